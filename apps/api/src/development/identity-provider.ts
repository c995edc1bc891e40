// An identity provider for development and tests: the certified library, users without passwords, one click to sign in.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { type Configuration, interactionPolicy, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import { memoryAdapters } from './memory-adapter.ts'
import { errorPage, PAGE_HEADERS, pickPage } from './pages.ts'
import type { DevelopmentUser } from './users.ts'

export interface DevelopmentClient {
  readonly id: string
  readonly secret: string
  readonly redirectUrl: string
}

export interface IdentityProviderOptions {
  readonly issuer: string
  readonly clients: readonly DevelopmentClient[]
  readonly users: readonly DevelopmentUser[]
  readonly idTokenAlg: 'ES256' | 'RS256'
  /** True to tell who a person is at the userinfo endpoint only, as some providers do. */
  readonly bareIdTokens?: boolean
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

const SIGN_IN = '/sign-in/'
const BODY_BYTES_MAX = 1024

export async function identityProvider(options: IdentityProviderOptions): Promise<Handler> {
  const { privateKey } = await generateKeyPair(options.idTokenAlg, { extractable: true })
  const signingKey = {
    ...(await exportJWK(privateKey)),
    use: 'sig',
    alg: options.idTokenAlg,
    kid: randomBytes(8).toString('hex'),
  }
  const provider = new Provider(options.issuer, configurationOf(options, signingKey))
  const serveProtocol = provider.callback()

  return async (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    if (!path.startsWith(SIGN_IN)) return serveProtocol(request, response)
    try {
      await provider.interactionDetails(request, response)
      if (request.method !== 'POST') return void response.writeHead(200, PAGE_HEADERS).end(pickPage(options.users))
      const accountId = new URLSearchParams(await readBody(request)).get('user') ?? ''
      if (!options.users.some(({ id }) => id === accountId)) throw new Error(`There is no user ${accountId}`)
      await provider.interactionFinished(request, response, { login: { accountId, remember: false } })
    } catch (error) {
      response.writeHead(400, PAGE_HEADERS).end(errorPage((error as Error).message))
    }
  }
}

function configurationOf(
  { clients, users, idTokenAlg, bareIdTokens = false }: IdentityProviderOptions,
  signingKey: object,
): Configuration {
  return {
    clients: clients.map(({ id, secret, redirectUrl }) => ({
      client_id: id,
      client_secret: secret,
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: idTokenAlg,
    })),
    jwks: { keys: [signingKey] } as NonNullable<Configuration['jwks']>,
    adapter: memoryAdapters(),
    cookies: { keys: [randomBytes(32).toString('hex')] },
    pkce: { required: () => true },
    scopes: ['openid', 'profile', 'email'],
    claims: {
      openid: ['sub'],
      email: ['email', 'email_verified'],
      profile: ['name', 'given_name', 'family_name', 'memberOf'],
    },
    conformIdTokenClaims: bareIdTokens,
    ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Grant: 600, Interaction: 600, Session: 600 },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    interactions: { policy: alwaysAsk(), url: (_context, { uid }) => `${SIGN_IN}${uid}` },
    clientBasedCORS: () => false,
    loadExistingGrant: consentToAll,
    findAccount: (_context, accountId) => {
      const user = users.find(({ id }) => id === accountId)
      return user && { accountId, claims: () => claimsOf(user) }
    },
    renderError: (context, { error, error_description }) => {
      context.set(PAGE_HEADERS)
      context.body = errorPage(error_description ?? error)
    },
  }
}

const claimsOf = ({ id, email, emailVerified = true, firstName, lastName, groups }: DevelopmentUser) => ({
  sub: id,
  email,
  email_verified: emailVerified,
  given_name: firstName,
  family_name: lastName,
  name: `${firstName} ${lastName}`,
  memberOf: [...groups],
})

/** Whoever signs in again may want to be somebody else, so a session is never a reason not to ask. */
function alwaysAsk() {
  const { base, Check } = interactionPolicy
  const policy = base()
  const ask = new Check('pick_user', 'Pick a user', (context) =>
    context.oidc.result?.login ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT,
  )
  policy.get('login')?.checks.add(ask)
  return policy
}

async function consentToAll({ oidc }: KoaContextWithOIDC) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! })
  grant.addOIDCScope('openid profile email')
  await grant.save()
  return grant
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) {
    body += chunk
    if (body.length > BODY_BYTES_MAX) throw new Error('This form is too long')
  }
  return body
}
