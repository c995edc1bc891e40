// The whole service on a database of its own, and people who hold what a test says they hold.
import assert from 'node:assert/strict'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { type Logger, pino } from 'pino'
import type { ReplicaOptions } from '../../src/access/replica.ts'
import { buildApp } from '../../src/app.ts'
import { newId } from '../../src/base/ids.ts'
import { type Config, readConfig } from '../../src/config.ts'
import { type Process, startServices } from '../../src/services.ts'
import { cloneDatabase } from './databases.ts'

const SECRETS_KEY = 'a key that only tests know, and long enough'

export interface Service {
  readonly app: FastifyInstance
  readonly config: Config
  readonly process: Process
  readonly databaseUrl: string
  /** A person of a tenant who bears these seat names, as the live seats give them now. */
  signIn(user: string, seatNames: string[], tenantId?: string): Promise<Person>
  /** A person with a token that says exactly this, whatever lives. */
  bearing(user: string, hashPerm: string[], tenantId?: string): Promise<Person>
  /** The space that a tenant has from its first start on. */
  firstSpace(tenantId?: string): Promise<string>
  close(): Promise<void>
}

export interface Person {
  readonly token: string
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>
}

export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  readonly body: any
  readonly headers: LightMyRequestResponse['headers']
  readonly text: string
}

export interface ServiceOptions {
  readonly env?: Record<string, string>
  readonly access?: ReplicaOptions
  readonly log?: Logger
}

export async function startService({
  env = {},
  access,
  log = pino({ level: process.env['TEST_LOG'] ?? 'silent' }),
}: ServiceOptions = {}): Promise<Service> {
  const database = await cloneDatabase()
  const config = readConfig({
    DATABASE_URL: database.url,
    SECRETS_KEY,
    TENANT_ID: 'acme',
    TENANT_NAME: 'Acme',
    RATE_LIMIT_USER_PER_SECOND: '0',
    RATE_LIMIT_TENANT_PER_SECOND: '0',
    DATABASE_CONNECTIONS: '4',
    ...env,
  })
  const running = await startServices(config, log, { ...(access && { access }) })
  const app = await buildApp(config, log, running)
  await app.ready()

  const bearing = async (user: string, hashPerm: string[], tenantId = 'acme'): Promise<Person> => {
    const identity = { tenantId, userId: user, email: `${user}@example.org`, loginId: newId(), hashPerm }
    const { access_token: token } = await running.services.tokens.issue(identity)
    return { token, call: (method, url, body, headers) => send(app, token, method, url, body, headers) }
  }
  return {
    app,
    config,
    process: running,
    databaseUrl: database.url,
    bearing,
    signIn(user, seatNames, tenantId = 'acme') {
      const { snapshot } = running.services.replica
      const hashPerm = seatNames.flatMap((name) =>
        [...(snapshot.seat(tenantId, name)?.spaces ?? [])].map((space) => `${space}:${name}`),
      )
      return bearing(user, hashPerm, tenantId)
    },
    async firstSpace(tenantId = 'acme') {
      const [row] = await running.system<
        { id: string }[]
      >`select id from spaces where tenant_id = ${tenantId} order by id limit 1`
      assert.ok(row)
      return row.id
    },
    async close() {
      await app.close()
      await running.close()
      await database.drop()
    },
  }
}

async function send(
  app: FastifyInstance,
  token: string,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const request: InjectOptions = { method, url, headers: { authorization: `Bearer ${token}`, ...headers } }
  if (body !== undefined) request.payload = body as object
  return toReply(await app.inject(request))
}

export function toReply(response: LightMyRequestResponse): Reply {
  const isJson = String(response.headers['content-type'] ?? '').includes('json')
  return {
    status: response.statusCode,
    body: isJson && response.payload ? JSON.parse(response.payload) : undefined,
    headers: response.headers,
    text: response.payload,
  }
}

/** Waits until something is so, and says what was not when it never is. */
export async function until(claim: string, isSo: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await isSo())) {
    if (Date.now() > deadline) assert.fail(`It never came true that ${claim}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
