// Starts the service as a child process and talks to it over real sockets.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { endWithTests } from './end-with-tests.ts'

const CHILD = fileURLToPath(new URL('child.ts', import.meta.url))

/** What `npm start` gives to Node. */
export const AS_STARTED = ['--max-semi-space-size=64']

export interface ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly token: string
  readonly space: string
  kill(signal: NodeJS.Signals): Promise<void>
}

export async function spawnService(env: Record<string, string>, args: string[] = []): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [...AS_STARTED, CHILD, ...args], {
    env: {
      PATH: process.env['PATH'],
      TEST_LOG: process.env['TEST_LOG'],
      TENANT_ID: 'acme',
      BASE_URL: 'http://amphi.test',
      RATE_LIMIT_USER_PER_SECOND: '0',
      RATE_LIMIT_TENANT_PER_SECOND: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endWithTests(child)
  const said = await Promise.race([
    once(createInterface(child.stdout!), 'line'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The service ended with ${code} before it was ready`)
    }),
  ])
  const { port, token, space } = JSON.parse(String(said[0]))
  return {
    child,
    url: `http://127.0.0.1:${port}`,
    token,
    space,
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill(signal)
      await once(child, 'exit')
    },
  }
}

const agent = new Agent({ connections: 32, pipelining: 1, headersTimeout: 60_000, connect: { timeout: 30_000 } })

export async function call(
  service: Pick<ServiceProcess, 'url' | 'token'>,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  token = service.token,
) {
  const response = await request(service.url + path, {
    dispatcher: agent,
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.body.text()
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  return { status: response.statusCode, body: (text ? JSON.parse(text) : undefined) as any }
}
