// Starts the development identity provider on loopback, for tenants that have none.
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Handler } from './identity-provider.ts'
import { clientIdOf, type DevelopmentIssuer, ID_TOKEN_ALG, redirectUrlOf } from './settings.ts'
import { usersFor } from './users.ts'

export interface DevelopmentTenant {
  readonly tenantId: string
  readonly adminSeat: string
}

export interface DevelopmentOptions {
  readonly production: boolean
  /** Where the service answers. */
  readonly baseUrl: string
  readonly tenants: readonly DevelopmentTenant[]
}

export interface DevelopmentProvider {
  readonly provider: DevelopmentIssuer
  /** Loads what the first login would otherwise wait for. */
  warmUp(): Promise<void>
  close(): Promise<void>
}

const HOST = '127.0.0.1'

export async function startDevelopmentProvider(options: DevelopmentOptions): Promise<DevelopmentProvider> {
  const { production, baseUrl, tenants } = options
  if (production) throw new Error('The development identity provider does not run in production')
  let handler: Promise<Handler> | undefined
  // The library takes longer to load than the service may take to start, so it is loaded when somebody comes.
  const handle = () => (handler ??= load())
  const server = createServer(async (request, response) => (await handle())(request, response))
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, HOST, resolve))
  const issuer = `http://${HOST}:${(server.address() as AddressInfo).port}`
  const redirectUrl = redirectUrlOf(baseUrl)
  const secret = randomBytes(32).toString('base64url')

  async function load(): Promise<Handler> {
    const { identityProvider } = await import('./identity-provider.ts')
    const clients = tenants.map(({ tenantId }) => ({ id: clientIdOf(tenantId), secret, redirectUrl }))
    return identityProvider({ issuer, clients, users: usersFor(tenants), idTokenAlg: ID_TOKEN_ALG })
  }

  return {
    provider: { issuer, secret },
    async warmUp() {
      await handle()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}
