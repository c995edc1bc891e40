// Why a login failed: in a word for the log and the audit, and in a sentence for the person who tried.
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client'
import { Problem } from '../../base/problem.ts'
import { ProviderFault } from './provider-fetch.ts'

export interface LoginFailure {
  /** One of few words: what an operator searches the log for. */
  readonly reason: string
  /** The technical side of it; it holds nothing secret. */
  readonly detail: string
  readonly problem: Problem
}

/** Carries the reason to where it is logged; only the problem in it is shown. */
export class LoginRefused extends Error {
  readonly failure: LoginFailure
  constructor(failure: LoginFailure) {
    super(failure.detail)
    this.name = 'LoginRefused'
    this.failure = failure
  }
}

const RETRY_AFTER_SECONDS = 5
const INVALID_ANSWER = 'The answer of the identity provider is not valid'
const TRANSPORT_CODES = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'])

const CLAIMS: Record<string, [reason: string, message: string]> = {
  iss: ['wrong_issuer', 'The ID token names another issuer than the one configured'],
  aud: ['wrong_audience', 'The ID token was issued for another client'],
  azp: ['wrong_audience', 'The ID token was issued for another client'],
  nonce: ['wrong_nonce', 'The ID token does not belong to this login'],
  exp: ['token_expired', 'The ID token has expired: check the clocks of provider and service'],
  nbf: ['token_not_yet_valid', 'The ID token is not valid yet: check the clocks of provider and service'],
  iat: ['token_from_the_future', 'The ID token was issued in the future: check the clocks of provider and service'],
}

const TOKEN_ERRORS: Record<string, [reason: string, message: string]> = {
  invalid_grant: ['code_refused', 'The provider refused the code: it was used before, or it is too old. Sign in again'],
  invalid_client: ['client_refused', 'The provider does not know oidc_client_id or refuses oidc_client_secret'],
  unauthorized_client: ['client_refused', 'The provider does not allow this client the authorization code flow'],
}

/** Every failure of the exchange with a provider, whatever it was thrown as. */
export function explainFailure(error: unknown): LoginFailure {
  if (error instanceof LoginRefused) return error.failure
  const fault = findFault(error)
  if (fault) return unavailable('provider_unavailable', `The identity provider ${fault.message}`)
  if (error instanceof AuthorizationResponseError) {
    const said = [plain(error.error), plain(error.error_description)].filter(Boolean).join(': ')
    return refused('provider_said_no', `The identity provider did not sign you in (${said})`)
  }
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError) return tokenError(error)
  if (error instanceof ClientError) return clientError(error)
  return refused('invalid_answer', INVALID_ANSWER, String(error))
}

/** The userinfo endpoint refuses in the same words as the token endpoint, and means something else. */
export function explainUserinfoFailure(error: unknown): LoginFailure {
  const failure = explainFailure(error)
  if (failure.reason !== 'client_refused' && failure.reason !== 'provider_refused') return failure
  const message = 'The userinfo endpoint of the identity provider refuses the token that the provider has issued'
  return refused('userinfo_refused', message, failure.detail)
}

export function unavailable(reason: string, message: string): LoginFailure {
  const parts = { cause: new Error(message), retryAfterSeconds: RETRY_AFTER_SECONDS }
  return { reason, detail: message, problem: new Problem('identity_provider_unavailable', message, parts) }
}

export const refused = (reason: string, message: string, detail = message): LoginFailure => ({
  reason,
  detail,
  problem: new Problem('login_failed', message),
})

export const claimRefused = (claim: string, detail: string): LoginFailure => {
  const [reason, message] = CLAIMS[claim] ?? ['invalid_id_token', 'The ID token is not valid']
  return refused(reason, message, detail)
}

function tokenError(error: ResponseBodyError | WWWAuthenticateChallengeError): LoginFailure {
  const { status } = error
  if (status >= 500) return unavailable('provider_unavailable', `The identity provider answered with status ${status}`)
  const code = error instanceof ResponseBodyError ? error.error : error.cause[0]?.parameters.error
  const known = TOKEN_ERRORS[code ?? (status === 401 ? 'invalid_client' : '')]
  const detail = `status ${status}, ${plain(code) || 'no error code'}`
  return known ? refused(...known, detail) : refused('provider_refused', `The identity provider refused (${detail})`)
}

function clientError(error: ClientError): LoginFailure {
  const { message: detail, cause } = (error.cause instanceof Error ? error.cause : error) as Error
  const { claim, header, expected } = (cause ?? {}) as {
    claim?: string
    header?: { alg?: unknown }
    expected?: unknown
  }
  const { code = '' } = error
  if (TRANSPORT_CODES.has(code))
    return unavailable('provider_unavailable', `The identity provider gave an ${describe(error)}`)
  if (claim) return claimRefused(claim, detail)
  if (header && code === 'OAUTH_INVALID_RESPONSE') {
    const signed = `The ID token is signed with ${plain(header.alg) || 'no algorithm'}, and ${plain(expected)} is expected (oidc_id_token_alg)`
    return refused('wrong_algorithm', signed, detail)
  }
  if (code === 'OAUTH_KEY_SELECTION_FAILED') {
    return refused('unknown_key', 'The ID token is signed with a key that the provider does not publish', detail)
  }
  if (/signature/.test(detail)) return refused('wrong_signature', 'The signature of the ID token is not valid', detail)
  return refused('invalid_answer', INVALID_ANSWER, detail)
}

const describe = (error: ClientError) => {
  const { status } = (error.cause ?? {}) as { status?: unknown }
  return `${error.message}${typeof status === 'number' ? ` (status ${status})` : ''}`
}

/** The client wraps what its fetch throws, more than once at times. */
function findFault(error: unknown): ProviderFault | undefined {
  for (let next = error; next instanceof Error; next = next.cause) if (next instanceof ProviderFault) return next
  return undefined
}

/** Words from outside, made fit for a message. */
const plain = (text: unknown): string =>
  typeof text === 'string' ? text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ').slice(0, 200) : ''
