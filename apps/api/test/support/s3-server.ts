// A real S3 server for tests: OpenStack Swift with its S3 interface, from Debian's packages, on ports and a folder of its own.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { S3Client } from '@aws-sdk/client-s3'
import { endWithTests } from './end-with-tests.ts'
import { KEYS, LAUNCHER, type Ports, RING_BUILDER, serverFiles } from './s3-server-files.ts'
import { until } from './service.ts'

const run = promisify(execFile)
// Debian's own Python, which its packages are for; another may come first on the path.
const PYTHON = '/usr/bin/python3'
const SERVERS = ['account', 'container', 'object', 'proxy']
const PACKAGES = ['swift-proxy', 'swift-object', 'swift-container', 'swift-account', 'memcached']

export interface S3Server {
  readonly endpoint: string
  /** Speaks to it as the owner of every bucket. */
  readonly client: S3Client
  stop(): Promise<void>
}

/** Says why there can be no server here, or nothing once its programs are in place. */
export async function whyNoS3Server(): Promise<string | undefined> {
  if (isInstalled()) return undefined
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    return `these Debian packages are not installed: ${PACKAGES.join(', ')}`
  }
  // The packages would start services of their own.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  await run('apt-get', ['update'], { env })
  await run('apt-get', ['install', '-y', '--no-install-recommends', ...PACKAGES], { env, maxBuffer: 1 << 26 })
  return isInstalled() ? undefined : 'the Debian packages of Swift were installed, but its programs are not there'
}

const isInstalled = () =>
  existsSync('/usr/bin/memcached') && SERVERS.every((name) => existsSync(`/usr/bin/swift-${name}-server`))

export async function startS3Server(): Promise<S3Server> {
  const root = await mkdtemp(join(tmpdir(), 'amphi-s3-'))
  const user = userInfo().username
  const ports = await freePorts()
  await Promise.all(['disks/d1', 'cache'].map((name) => mkdir(join(root, name), { recursive: true })))
  for (const [name, text] of Object.entries(serverFiles(root, user, ports))) await writeFile(join(root, name), text)
  const ringPorts = [ports.account, ports.container, ports.object].map(String)
  await run(PYTHON, ['-c', RING_BUILDER, root, ...ringPorts])

  const children = [
    start('/usr/bin/memcached', ['-u', user, '-l', '127.0.0.1', '-p', String(ports.memcached), '-m', '16']),
    ...SERVERS.map((name) => start(PYTHON, ['-c', LAUNCHER, root, name])),
  ]
  const endpoint = `http://127.0.0.1:${ports.proxy}`
  const stop = async () => {
    await Promise.all(children.map(end))
    await rm(root, { recursive: true, force: true })
  }
  try {
    await until('the S3 server answers', () => answers(endpoint, children), 60_000)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    endpoint,
    client: new S3Client({
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: KEYS,
      requestChecksumCalculation: 'WHEN_REQUIRED',
    }),
    stop,
  }
}

function start(command: string, args: string[]): ChildProcess {
  const stderr = process.env['TEST_LOG'] ? 'inherit' : 'ignore'
  return endWithTests(spawn(command, args, { stdio: ['ignore', 'ignore', stderr] }))
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function answers(endpoint: string, children: ChildProcess[]): Promise<boolean> {
  assert.ok(
    children.every(({ exitCode }) => exitCode === null),
    'A part of the S3 server ended; TEST_LOG=info shows why',
  )
  return fetch(endpoint).then(
    // Without keys the answer is a refusal, and a refusal is an answer.
    ({ status }) => status < 500,
    () => false,
  )
}

async function freePorts(): Promise<Ports> {
  const servers = Array.from({ length: 5 }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const [proxy, account, container, object, memcached] = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return { proxy: proxy!, account: account!, container: container!, object: object!, memcached: memcached! }
}
