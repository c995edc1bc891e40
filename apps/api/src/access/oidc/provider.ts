// One tenant's identity provider (contract 5.1): where a login is sent, and what comes of it when it returns.
import * as client from 'openid-client'
import type { Secret } from '../../base/secret.ts'
import { type Claims, needsUserinfo, type ProvidedPerson, toPerson } from './claims.ts'
import {
  claimRefused,
  explainFailure,
  explainUserinfoFailure,
  type LoginFailure,
  LoginRefused,
  refused,
  unavailable,
} from './failures.ts'
import type { ProviderFetch } from './provider-fetch.ts'

export interface ProviderSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret
  readonly redirectUrl: string
  readonly scopes: string
  readonly groupsClaim: string
  /** The one algorithm that ID tokens may be signed with. */
  readonly idTokenAlg: string
}

/** What ties an answer of the provider to the question; known to nobody else. */
export interface LoginSecrets {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** What the provider sent the browser back with. */
export type CallbackParameters = Readonly<Record<string, string | undefined>>

const CLOCK_TOLERANCE_SECONDS = 30
/** A provider that failed is left alone for a moment, so that a crowd of logins does not wait for it one by one. */
const PAUSE_AFTER_FAILURE_MS = 2000

export class Provider {
  readonly #settings: ProviderSettings
  readonly #fetch: ProviderFetch
  #discovery: Promise<client.ServerMetadata> | undefined
  #pauseUntil = 0
  #lastFailure: LoginFailure | undefined

  constructor(settings: ProviderSettings, fetch: ProviderFetch) {
    this.#settings = settings
    this.#fetch = fetch
  }

  async authorizationUrl({ state, nonce, verifier }: LoginSecrets): Promise<string> {
    const configuration = this.#configure(await this.#discovered())
    const { redirectUrl, scopes } = this.#settings
    const challenge = await client.calculatePKCECodeChallenge(verifier)
    try {
      return client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUrl,
        scope: scopes,
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }).href
    } catch {
      throw new LoginRefused(
        unavailable('provider_misconfigured', 'The identity provider names no address to sign in at'),
      )
    }
  }

  /** Trades the code for an ID token, verifies all of it, and reads who this is. */
  async identify(callback: CallbackParameters, { state, nonce, verifier }: LoginSecrets): Promise<ProvidedPerson> {
    const configuration = this.#configure(await this.#discovered())
    try {
      const tokens = await client.authorizationCodeGrant(configuration, this.#callbackUrl(callback), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const idToken: Claims = { ...tokens.claims() }
      assertNotFromTheFuture(idToken)
      const { groupsClaim } = this.#settings
      const userinfo = needsUserinfo(idToken, groupsClaim)
        ? await askUserinfo(configuration, tokens.access_token, String(idToken['sub']))
        : undefined
      return toPerson(idToken, userinfo, groupsClaim)
    } catch (error) {
      throw new LoginRefused(explainFailure(error))
    }
  }

  /** Built from the configured address, never from the request: what a proxy or a client says of itself has no say. */
  #callbackUrl(callback: CallbackParameters): URL {
    const url = new URL(this.#settings.redirectUrl)
    for (const [name, value] of Object.entries(callback)) if (value !== undefined) url.searchParams.set(name, value)
    return url
  }

  /** Held for the life of the process once it succeeded; a failure is tried again at the next login. */
  #discovered(): Promise<client.ServerMetadata> {
    if (this.#lastFailure && performance.now() < this.#pauseUntil)
      return Promise.reject(new LoginRefused(this.#lastFailure))
    this.#discovery ??= this.#discover().catch((error) => {
      this.#discovery = undefined
      this.#pauseUntil = performance.now() + PAUSE_AFTER_FAILURE_MS
      const { reason, detail } = explainFailure(error)
      this.#lastFailure = unavailable(
        reason === 'provider_unavailable' ? reason : 'discovery_failed',
        reason === 'provider_unavailable'
          ? detail
          : `The configuration of the identity provider cannot be used: ${detail}`,
      )
      throw new LoginRefused(this.#lastFailure)
    })
    return this.#discovery
  }

  async #discover(): Promise<client.ServerMetadata> {
    const { issuer, clientId } = this.#settings
    const configuration = await client.discovery(new URL(issuer), clientId, undefined, client.None(), {
      [client.customFetch]: this.#fetch as client.CustomFetch,
      execute: this.#isPlain ? [client.allowInsecureRequests] : [],
    })
    const metadata = configuration.serverMetadata()
    if (new URL(metadata.issuer).href !== new URL(issuer).href) {
      // The client makes exceptions for issuers that many organisations share; each tenant here has one of its own.
      throw new LoginRefused(refused('wrong_issuer', `it names the issuer ${metadata.issuer}`))
    }
    return metadata
  }

  /**
   * Made anew for each login. The keys of a provider are remembered per configuration, so they are fetched anew as well:
   * a key that was brought in or withdrawn a second ago counts.
   */
  #configure(metadata: client.ServerMetadata): client.Configuration {
    const { clientId, clientSecret, idTokenAlg } = this.#settings
    const offered = metadata.token_endpoint_auth_methods_supported
    const authenticate = offered?.includes('client_secret_post') ? client.ClientSecretPost : client.ClientSecretBasic
    const configuration = new client.Configuration(
      metadata,
      clientId,
      { id_token_signed_response_alg: idTokenAlg, [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
      authenticate(clientSecret.reveal()),
    )
    configuration[client.customFetch] = this.#fetch as client.CustomFetch
    if (this.#isPlain) client.allowInsecureRequests(configuration)
    // Without this call the signature of an ID token that came over TLS is not looked at.
    client.enableNonRepudiationChecks(configuration)
    return configuration
  }

  /** Plain HTTP is accepted by the configuration on loopback only, and not in production. */
  get #isPlain(): boolean {
    return this.#settings.issuer.startsWith('http:')
  }
}

async function askUserinfo(
  configuration: client.Configuration,
  token: string,
  subject: string,
): Promise<Claims | undefined> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return undefined
  try {
    return (await client.fetchUserInfo(configuration, token, subject)) as unknown as Claims
  } catch (error) {
    throw new LoginRefused(explainUserinfoFailure(error))
  }
}

function assertNotFromTheFuture(idToken: Claims): void {
  const nowSeconds = Date.now() / 1000
  if (Number(idToken['iat']) <= nowSeconds + CLOCK_TOLERANCE_SECONDS) return
  throw new LoginRefused(claimRefused('iat', `issued ${Math.round(Number(idToken['iat']) - nowSeconds)} s from now`))
}
