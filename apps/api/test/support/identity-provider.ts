// The certified identity provider on loopback, with users a test may change, and people who sign in through it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { type Handler, identityProvider } from '../../src/development/identity-provider.ts'
import { signInByName } from '../../src/development/sign-in-by-name.ts'
import type { DevelopmentUser } from '../../src/development/users.ts'

export const BASE_URL = 'http://127.0.0.1:8080'
export const REDIRECT_URL = `${BASE_URL}/v1/auth/oidc/callback`

export interface TestProvider {
  readonly issuer: string
  /** May be changed: the next login sees it. */
  readonly users: (DevelopmentUser & { groups: string[]; email: string; emailVerified?: boolean })[]
  /** The record of a tenant that signs in here, as TENANTS_FILE has it. */
  record(tenantId: string, more?: Record<string, string>): Record<string, string>
  /** The same as environment variables. */
  env(tenantId: string, more?: Record<string, string>): Record<string, string>
  close(): Promise<void>
}

const ID_TOKEN_ALG = 'ES256'
const CLIENT = { id: 'amphi', secret: 'a secret between the two of us, long enough', redirectUrl: REDIRECT_URL }

export async function startProvider(
  users: DevelopmentUser[],
  options: { bareIdTokens?: boolean } = {},
): Promise<TestProvider> {
  let handle: Handler = async (_request, response) => void response.writeHead(503).end()
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const kept = users.map((user) => ({ ...user, groups: [...user.groups] }))
  handle = await identityProvider({ issuer, clients: [CLIENT], users: kept, idTokenAlg: ID_TOKEN_ALG, ...options })
  const record = (tenantId: string, more: Record<string, string> = {}) => ({
    tenant_id: tenantId,
    name: tenantId,
    oidc_issuer: issuer,
    oidc_client_id: CLIENT.id,
    oidc_client_secret: CLIENT.secret,
    oidc_redirect_url: CLIENT.redirectUrl,
    oidc_id_token_alg: ID_TOKEN_ALG,
    ...more,
  })
  return {
    issuer,
    users: kept,
    record,
    env: (tenantId, more) => toEnvironment(record(tenantId, more)),
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/** A tenant's record as the TENANT_ variables have it. */
export const toEnvironment = (record: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(record).map(([name, value]) => [`TENANT_${name.replace('tenant_', '').toUpperCase()}`, value]),
  )

export const person = (id: string, ...groups: string[]): DevelopmentUser => ({
  id,
  firstName: id[0]!.toUpperCase() + id.slice(1),
  lastName: 'Example',
  email: `${id}@example.org`,
  groups,
})

/** Signs in through the real flow and answers with what the frontend is handed. */
export const signInThrough = (app: FastifyInstance, tenantId: string, user: string): Promise<URLSearchParams> =>
  signInByName({ baseUrl: BASE_URL, tenantId, user, fetch: fetchInto(app) })

/** Requests to the service go into the app, all others out into the world. */
export const fetchInto =
  (app: FastifyInstance) =>
  async (url: string, init: RequestInit): Promise<Response> => {
    if (!url.startsWith(BASE_URL)) return fetch(url, init)
    const request: InjectOptions = {
      method: (init.method ?? 'GET') as 'GET',
      url: url.slice(BASE_URL.length),
      headers: init.headers as Record<string, string>,
    }
    if (init.body) request.payload = init.body as string
    const answer = await app.inject(request)
    const headers = new Headers()
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const item of [value].flat()) if (item !== undefined) headers.append(name, String(item))
    }
    const isBodiless = answer.statusCode === 204
    return new Response(isBodiless ? null : answer.payload, { status: answer.statusCode, headers })
  }
