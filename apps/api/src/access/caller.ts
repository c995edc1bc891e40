// Who calls, as the credential says: a person by a token of a login, or by an API key.

export interface Caller {
  readonly tenantId: string
  readonly userId: string
  readonly email: string | undefined
  readonly name: string | undefined
  /** True for people who came through their identity provider, false for API keys. */
  readonly sso: boolean
  /** The login the token came from; an API key has none. */
  readonly loginId: string | undefined
  /** The API key that was sent, where it was one. */
  readonly keyId?: string
  readonly expiresAt: number
  /** The distinct seat names the caller bears. */
  readonly seatNames: readonly string[]
  /** The token's hash_perm by space; absent where the live seats alone say which spaces a name reaches. */
  readonly namesBySpace: ReadonlyMap<string, readonly string[]> | undefined
}
