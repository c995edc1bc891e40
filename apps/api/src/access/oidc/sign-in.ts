// The round trip of signing in (contract 5.1): out to the tenant's identity provider, and back with proof of who it is.
import type { Grant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import { audit } from '../../storage/audit.ts'
import type { Database } from '../../storage/database.ts'
import type { Logins } from '../logins.ts'
import type { IssuedToken } from '../tokens.ts'
import { type LoginFailure, LoginRefused, refused } from './failures.ts'
import { type CallbackParameters, Provider, type ProviderSettings } from './provider.ts'
import type { ProviderFetch } from './provider-fetch.ts'
import { type LoginStates, type RedeemedState, randomText } from './states.ts'

export interface SignInTenant {
  readonly tenantId: string
  readonly frontendUrl: string | undefined
  readonly oidc: ProviderSettings | undefined
}

export interface SignInOptions {
  readonly db: Database
  readonly logins: Logins
  readonly states: LoginStates
  readonly fetch: ProviderFetch
  /** Where a browser is sent when its tenant has no frontend, or is not known. */
  readonly homeUrl: string
  /** Throws when too much comes from one address. */
  readonly limitAddress: (address: string) => void
  readonly onFailure: (failure: LoginFailure, tenantId: string | undefined, requestId: string) => void
}

/** A login that was begun here and has come back. */
export interface PendingLogin extends RedeemedState {
  readonly frontendUrl: string
}

export interface Returning {
  readonly callback: CallbackParameters
  readonly isBrowser: boolean
  /** What the cookie holds that was set when the login began. */
  readonly binding: string | undefined
  readonly requestId: string
}

export class SignIn {
  readonly #providers = new Map<string, Provider>()
  readonly #frontends = new Map<string, string>()
  readonly #options: SignInOptions

  constructor(tenants: readonly SignInTenant[], options: SignInOptions) {
    this.#options = options
    for (const { tenantId, frontendUrl, oidc } of tenants) {
      if (oidc) this.#providers.set(tenantId, new Provider(oidc, options.fetch))
      this.#frontends.set(tenantId, frontendUrl ?? options.homeUrl)
    }
  }

  get homeUrl(): string {
    return this.#options.homeUrl
  }

  async begin(tenantId: string, address: string, requestId: string) {
    this.#options.limitAddress(address)
    const provider = this.#providers.get(tenantId)
    // A tenant without a provider and no tenant at all are the same answer: a stranger does not learn who is here.
    if (!provider)
      throw new Problem('invalid_reference', 'No tenant with this id signs in here', { param: 'tenant_id' })
    const secrets = { state: randomText(), nonce: randomText(), verifier: randomText() }
    try {
      const authUrl = await provider.authorizationUrl(secrets)
      return { authUrl, ...(await this.#options.states.keep(tenantId, secrets)) }
    } catch (error) {
      if (!(error instanceof LoginRefused)) throw error
      this.#options.onFailure(error.failure, tenantId, requestId)
      throw error.failure.problem
    }
  }

  /** Uses the state up, whatever comes of the login after that. */
  async redeem(state: string | undefined, address: string, requestId: string): Promise<PendingLogin> {
    this.#options.limitAddress(`returning ${address}`)
    const redeemed = state === undefined ? undefined : await this.#options.states.redeem(state)
    if (redeemed) return { ...redeemed, frontendUrl: this.#frontends.get(redeemed.tenantId) ?? this.homeUrl }
    const message = 'This login is not known: it was finished before, or not begun here. Sign in again'
    const problem = new Problem('login_state_invalid', message)
    const detail = state === undefined ? 'the callback carries no state' : 'the state is unknown or was used before'
    this.#options.onFailure({ reason: 'unknown_state', detail, problem }, undefined, requestId)
    throw problem
  }

  async finish(pending: PendingLogin, returning: Returning): Promise<IssuedToken> {
    const { tenantId, secrets } = pending
    try {
      assertFresh(pending)
      assertSameBrowser(pending, returning)
      const provider = this.#providers.get(tenantId)
      if (!provider) throw new LoginRefused(refused('no_provider', 'This tenant has no identity provider any more'))
      const person = await provider.identify(returning.callback, secrets)
      return await this.#options.logins.admit(tenantId, person, returning.requestId)
    } catch (error) {
      const failure = failureOf(error)
      if (failure) await this.#tell(tenantId, failure, returning.requestId)
      throw failure?.problem ?? error
    }
  }

  async #tell(tenantId: string, failure: LoginFailure, requestId: string): Promise<void> {
    this.#options.onFailure(failure, tenantId, requestId)
    const grant = { tenantId, userId: 'anonymous', requestId } as Grant
    const entry = { action: 'auth.login', resource: 'auth', spaces: [], after: { reason: failure.reason } }
    await this.#options.db.as(grant, (sql) => audit(sql, grant, { ...entry, outcome: 'failed' }))
  }
}

function assertFresh({ expired }: PendingLogin): void {
  if (!expired) return
  const problem = new Problem('login_state_invalid', 'This login took longer than 10 minutes: sign in again')
  throw new LoginRefused({ reason: 'expired_state', detail: 'the state is older than 10 minutes', problem })
}

/** Otherwise somebody could finish their own login in another person's browser, and be mistaken for that person's. */
function assertSameBrowser(pending: PendingLogin, { isBrowser, binding }: Returning): void {
  if (binding === undefined ? !isBrowser : pending.isBoundTo(binding)) return
  const problem = new Problem(
    'login_state_invalid',
    'This login was begun in another browser: sign in again in this one',
  )
  const detail = binding === undefined ? 'the binding cookie is missing' : 'the binding cookie is another one'
  throw new LoginRefused({ reason: 'foreign_state', detail, problem })
}

function failureOf(error: unknown): LoginFailure | undefined {
  if (error instanceof LoginRefused) return error.failure
  if (error instanceof Problem && error.code === 'login_failed') return refused('too_many_seats', error.message)
  return undefined
}
