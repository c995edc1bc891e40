// The service exactly as `npm start` runs it, in a folder and on a port of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { signInByName } from '../../src/development/sign-in-by-name.ts'
import { endWithTests } from './end-with-tests.ts'
import { AS_STARTED, call } from './processes.ts'
import { until } from './service.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** `onSpawn` sees it before it is ready, and may be its end. */
export async function startMain(env: Record<string, string> = {}, onSpawn?: (child: ChildProcess) => Promise<void>) {
  const port = Number(env['PORT'] ?? (await freePort()))
  const url = `http://127.0.0.1:${port}`
  const dataDir = await mkdtemp(join(tmpdir(), 'amphi-main-'))
  const child = spawn(process.execPath, [...AS_STARTED, MAIN], {
    env: { PATH: process.env['PATH'], PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithTests(child)
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const isReady = () => {
    if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}: ${said}`)
    return fetch(`${url}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    )
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    await rm(dataDir, { recursive: true, force: true })
  }
  await onSpawn?.(child)
  if (child.signalCode === null) await until('the service is ready', isReady, 60_000)
  return {
    child,
    url,
    port,
    dataDir,
    /** Someone the development provider knows, and the first space. */
    async signIn(user: string) {
      const token = (await signInByName({ baseUrl: url, tenantId: 'default', user })).get('access_token')!
      const spaces = await call({ url, token }, 'GET', '/v1/spaces?limit=1')
      return { url, token, space: spaces.body.data[0]?.id as string }
    },
    stop,
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
