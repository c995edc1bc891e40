// The development provider (contract 2.4): a newcomer signs in within a minute, and production never has it.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { readConfig } from '../../src/config.ts'
import { developmentProviderFor } from '../../src/development-provider.ts'
import { cloneDatabase } from '../support/databases.ts'
import { until } from '../support/service.ts'

const MAIN = new URL('../../src/main.ts', import.meta.url).pathname
const TOKEN = new URL('../../scripts/token.ts', import.meta.url).pathname
/** Prints the address of every module that is loaded, those of the libraries too. */
const TELL_LOADED = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load: (url, context, next) => (console.error('loaded ' + url), next(url, context)) })`)}`

let folder: string
let database: Awaited<ReturnType<typeof cloneDatabase>>
const children: ChildProcess[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'amphi-development-'))
  database = await cloneDatabase()
})
after(async () => {
  for (const child of children) child.kill('SIGKILL')
  await database.drop()
  await rm(folder, { recursive: true })
})

function run(args: string[], env: Record<string, string>) {
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '', ...env } })
  children.push(child)
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk) => (output.out += chunk))
  child.stderr.on('data', (chunk) => (output.err += chunk))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { child, output, ended }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((listening) => server.once('listening', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

/** Starts the service as an operator would, and waits until it can answer. */
async function start(args: string[], env: Record<string, string>) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const service = run([...args, MAIN], {
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    PORT: String(port),
    SECRETS_KEY: 'x'.repeat(32),
    LOG_LEVEL: 'warn',
    ...env,
  })
  const isReady = async () => {
    assert.equal(service.child.exitCode, null, service.output.err)
    return fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  await until('the service is ready', isReady, 30_000)
  return { ...service, url }
}

describe('outside production, without any issuer', () => {
  let baseUrl: string
  before(async () => {
    baseUrl = (await start([], {})).url
  })

  const tokenFor = async (user: string) => {
    const { output, ended } = run([TOKEN, '--user', user], { BASE_URL: baseUrl })
    assert.equal(await ended, 0, output.err)
    return output.out
  }

  test('the token command prints one line, a token of the user that works', async () => {
    const out = await tokenFor('ana')
    assert.match(out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const headers = { authorization: `Bearer ${out.trim()}` }
    const me = (await (await fetch(`${baseUrl}/v1/users/me`, { headers })).json()) as Record<string, unknown>
    assert.deepEqual([me['email'], me['permissions']], ['ana@example.org', ['*']])
  })

  test('bob’s group is no seat yet, and carol is in no group', async () => {
    for (const user of ['bob', 'carol']) assert.deepEqual(decodeJwt(await tokenFor(user))['hash_perm'], [])
  })

  test('the token command asks where the service listens', async () => {
    const { output, ended } = run([TOKEN], { PORT: new URL(baseUrl).port })
    assert.equal(await ended, 0, output.err)
    assert.match(output.out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
  })

  const refusalOf = async (args: string[], env: Record<string, string> = { BASE_URL: baseUrl }) => {
    const { output, ended } = run([TOKEN, ...args], env)
    assert.equal(await ended, 1)
    assert.equal(output.out, '')
    return output.err
  }

  test('a user that is not there is told in one sentence, with those who are', async () => {
    assert.equal(await refusalOf(['--user', 'mallory']), 'There is no user mallory: choose one of ana, bob, carol\n')
  })

  test('a tenant that is not there is told in one sentence', async () => {
    assert.match(await refusalOf(['--tenant', 'nobody']), /^The login cannot be started: [^{}\n]+\n$/)
  })

  test('an option that the token command does not know, or a stray word, is answered with its usage', async () => {
    for (const word of ['--name', 'bob']) {
      assert.match(await refusalOf([word]), new RegExp(`${word}.*\nUsage: npm run token -- .*--user.*\n$`))
    }
  })

  test('where no service runs, the token command says where it looked', async () => {
    const port = await freePort()
    const refusal = await refusalOf([], { PORT: String(port) })
    assert.match(refusal, new RegExp(`^No service answers at http://127\\.0\\.0\\.1:${port}: .*ECONNREFUSED.*\n$`))
  })

  test('the page at / knows its tenant, asks nobody else for anything, and may run only its own script', async () => {
    const answer = await fetch(`${baseUrl}/`)
    const page = await answer.text()
    assert.equal(answer.status, 200)
    assert.match(page, /data-tenant="default"/)
    assert.doesNotMatch(page, /(src|href)="(https?:)?\/\//)
    const [, script = ''] = /<script>(.*)<\/script>/s.exec(page) ?? []
    const policy = answer.headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none'; /)
    assert.ok(policy.includes(`script-src 'sha256-${hash('sha256', script, 'base64')}'`), policy)
    assert.doesNotMatch(policy, /unsafe/)
  })
})

describe('in production', () => {
  const env = { NODE_ENV: 'production', SECRETS_KEY: 'x'.repeat(32), BASE_URL: 'https://amphi.example' }

  test('the configuration never leads to the development provider', async () => {
    assert.equal(await developmentProviderFor(readConfig({ ...env })), undefined)
  })

  test('nothing of it, nor the library behind it, is loaded, and nobody can sign in', async () => {
    const { child, output, ended, url } = await start(['--import', TELL_LOADED], env)
    const answer = await fetch(`${url}/v1/auth/oidc/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ tenant_id: 'default' }),
    })
    assert.equal(answer.status, 400)
    child.kill('SIGTERM')
    assert.equal(await ended, 0, output.err)
    const loaded = output.err.split('\n').filter((line) => line.startsWith('loaded '))
    assert.ok(
      loaded.some((line) => line.endsWith('/src/app.ts')),
      'the list of modules is there',
    )
    assert.deepEqual(
      loaded.filter((line) => /oidc-provider|\/src\/development\//.test(line)),
      [],
    )
  })

  test('its own starter refuses, should anybody call it', async () => {
    const { startDevelopmentProvider } = await import('../../src/development/start.ts')
    await assert.rejects(startDevelopmentProvider(readConfig({ ...env })), /does not run in production/)
  })
})
