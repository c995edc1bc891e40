// An identity provider that misbehaves as told: it forges tokens, stalls, redirects and answers nonsense.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { REDIRECT_URL } from './identity-provider.ts'

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>
type Play = (response: ServerResponse) => void

export interface HostileProvider {
  /** Claims that replace or, when undefined, remove the right ones. */
  claims: JWTPayload
  /** What the ID token is signed with; the published key by default. */
  sign: (claims: JWTPayload) => Promise<string>
  /** Replaces the answer at one of its addresses. */
  plays: { token?: Play; jwks?: Play; userinfo?: Play }
  /** The nonce that the next ID token repeats. */
  nonce: string
  readonly tokenRequests: URLSearchParams[]
  readonly discoveryRequests: string[]
  /** The name of the published key. */
  readonly keyId: string
  /** Signs as an honest provider would, with any key, key id and algorithm. */
  signWith(pair: KeyPair, kid?: string): (claims: JWTPayload) => Promise<string>
  publicPem(): Promise<string>
  rotateKey(): Promise<void>
  /** The configuration of an honest provider, as a tenant's issuer publishes it. */
  describe(tenantId: string): Record<string, unknown>
  /** Forgets all misbehaviour. */
  reset(): void
  /** A tenant whose discovery is played as given; all share the rest. */
  record(tenantId: string, discovery?: Play): Record<string, string>
  close(): Promise<void>
}

const CLIENT_ID = 'amphi'
const ALGORITHM = 'RS256'

export const json =
  (body: unknown, status = 200): Play =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

export async function startHostileProvider(): Promise<HostileProvider> {
  let pair = await generateKeyPair(ALGORITHM)
  let kid = 'first'
  const discoveries = new Map<string, Play>()

  const server = createServer(async (request, response) => {
    const [, tenant = '', what = ''] = /^\/([^/]+)\/(.+)$/.exec(request.url ?? '') ?? []
    if (what === '.well-known/openid-configuration')
      return (discoveries.get(tenant) ?? json(describe(tenant)))(response)
    if (what === 'jwks') return (provider.plays.jwks ?? json({ keys: [await published()] }))(response)
    if (what === 'userinfo') return (provider.plays.userinfo ?? json({ sub: 'eve' }))(response)
    if (what !== 'token') return void response.writeHead(404).end()
    let body = ''
    for await (const chunk of request) body += chunk
    provider.tokenRequests.push(new URLSearchParams(body))
    if (provider.plays.token) return provider.plays.token(response)
    const id_token = await provider.sign({ ...honest(tenant), ...provider.claims })
    json({ access_token: 'opaque', token_type: 'Bearer', expires_in: 60, id_token })(response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const describe = (tenant: string) => ({
    issuer: `${origin}/${tenant}`,
    authorization_endpoint: `${origin}/${tenant}/authorize`,
    token_endpoint: `${origin}/${tenant}/token`,
    jwks_uri: `${origin}/${tenant}/jwks`,
    userinfo_endpoint: `${origin}/${tenant}/userinfo`,
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
  })
  const honest = (tenant: string): JWTPayload => {
    const now = Math.floor(Date.now() / 1000)
    const who = { sub: 'eve', email: 'eve@example.org', memberOf: ['admins'] }
    return { iss: `${origin}/${tenant}`, aud: CLIENT_ID, iat: now, exp: now + 60, nonce: provider.nonce, ...who }
  }
  const published = async () => ({ ...(await exportJWK(pair.publicKey)), kid, alg: ALGORITHM, use: 'sig' })

  const provider: HostileProvider = {
    claims: {},
    sign: () => Promise.reject(new Error('reset() comes first')),
    plays: {},
    nonce: '',
    describe,
    tokenRequests: [],
    discoveryRequests: [],
    get keyId() {
      return kid
    },
    signWith:
      (signer, keyId = kid) =>
      (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: ALGORITHM, kid: keyId }).sign(signer.privateKey),
    publicPem: () => exportSPKI(pair.publicKey),
    async rotateKey() {
      pair = await generateKeyPair(ALGORITHM)
      kid = `${kid}-next`
      provider.reset()
    },
    reset() {
      provider.claims = {}
      provider.plays = {}
      provider.sign = provider.signWith(pair)
    },
    record(tenantId, discovery) {
      if (discovery) discoveries.set(tenantId, discovery)
      return {
        tenant_id: tenantId,
        name: tenantId,
        oidc_issuer: `${origin}/${tenantId}`,
        oidc_client_id: CLIENT_ID,
        oidc_client_secret: 'a secret that hostile providers know',
        oidc_redirect_url: REDIRECT_URL,
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
  provider.reset()
  return provider
}
