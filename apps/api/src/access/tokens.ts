// The service's own tokens (contract 2.3, 5.3): issued at login, verified on every request, remembered once verified.
import { hash } from 'node:crypto'
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { newId } from '../base/ids.ts'
import { Problem } from '../base/problem.ts'
import { Recent } from '../base/recent.ts'
import type { Caller } from './caller.ts'
import type { SigningKeys } from './signing-keys.ts'

const ALGORITHM = 'ES256'
const TYPE = 'at+jwt'
const VERIFIED_MAX = 20_000
/** A token must fit into a request's headers; every entry is about fifty bytes. */
const HASH_PERM_MAX = 600

export interface Identity {
  readonly tenantId: string
  readonly userId: string
  readonly email?: string | undefined
  readonly name?: string | undefined
  /** Names the login that all its refreshed tokens belong to. */
  readonly loginId: string
  readonly hashPerm: readonly string[]
}

export interface IssuedToken {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
}

export class Tokens {
  readonly #keys: SigningKeys
  readonly #issuer: string
  readonly #lifetimeSeconds: number
  readonly #verified = new Recent<Caller>(VERIFIED_MAX)

  constructor(keys: SigningKeys, issuer: string, lifetimeSeconds: number) {
    this.#keys = keys
    this.#issuer = issuer
    this.#lifetimeSeconds = lifetimeSeconds
  }

  get lifetimeSeconds(): number {
    return this.#lifetimeSeconds
  }

  async issue(identity: Identity): Promise<IssuedToken> {
    if (identity.hashPerm.length > HASH_PERM_MAX) {
      const message = `You hold ${identity.hashPerm.length} seat and space pairs, and a token carries at most ${HASH_PERM_MAX}`
      throw new Problem('login_failed', message)
    }
    const { id, privateKey } = this.#keys.current
    const claims: JWTPayload = {
      tid: identity.tenantId,
      sid: identity.loginId,
      hash_perm: identity.hashPerm,
      ...(identity.email !== undefined && { email: identity.email }),
      ...(identity.name !== undefined && { name: identity.name }),
    }
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: id })
      .setIssuer(this.#issuer)
      .setAudience(this.#issuer)
      .setSubject(identity.userId)
      .setJti(newId())
      .setIssuedAt()
      .setExpirationTime(`${this.#lifetimeSeconds}s`)
      .sign(privateKey)
    return { access_token: token, token_type: 'Bearer', expires_in: this.#lifetimeSeconds }
  }

  /** The caller of a token met before; expiry is looked at every time. */
  remembered(token: string): Caller | undefined {
    const caller = this.#verified.get(digest(token))
    if (caller && caller.expiresAt * 1000 <= Date.now()) throw expired()
    return caller
  }

  async verify(token: string): Promise<Caller> {
    const payload = await this.#payload(token)
    const caller = toCaller(payload)
    this.#verified.set(digest(token), caller)
    return caller
  }

  async #payload(token: string): Promise<JWTPayload> {
    try {
      const { kid } = decodeProtectedHeader(token)
      const key = kid === undefined ? undefined : await this.#keys.find(kid)
      if (!key) throw new Problem('unauthenticated', 'This token was not issued here')
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [ALGORITHM],
        typ: TYPE,
        issuer: this.#issuer,
        audience: this.#issuer,
        requiredClaims: ['sub', 'tid', 'sid', 'exp', 'iat', 'hash_perm'],
      })
      return payload
    } catch (error) {
      if (error instanceof errors.JWTExpired) throw expired()
      if (error instanceof errors.JOSEError || error instanceof TypeError) {
        throw new Problem('unauthenticated', 'This token is not valid', { cause: error })
      }
      throw error
    }
  }
}

const digest = (token: string) => hash('sha256', token, 'base64')
const expired = () => new Problem('token_expired', 'This token has expired: sign in again or refresh it in time')

function toCaller(payload: JWTPayload): Caller {
  const namesBySpace = new Map<string, string[]>()
  const seatNames = new Set<string>()
  for (const entry of payload['hash_perm'] as string[]) {
    // Space ids hold no colon, seat names may.
    const colon = entry.indexOf(':')
    const space = entry.slice(0, colon)
    const name = entry.slice(colon + 1)
    seatNames.add(name)
    const names = namesBySpace.get(space)
    if (names) names.push(name)
    else namesBySpace.set(space, [name])
  }
  return {
    tenantId: String(payload['tid']),
    userId: payload.sub!,
    email: payload['email'] as string | undefined,
    name: payload['name'] as string | undefined,
    sso: true,
    loginId: String(payload['sid']),
    expiresAt: payload.exp!,
    seatNames: [...seatNames],
    namesBySpace,
  }
}
