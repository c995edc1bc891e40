// Proof that the door was passed. The database opens only to a grant, so an unchecked read does not compile.
declare const checked: unique symbol

/** A known person of a known tenant. Enough for the few operations that need only a valid token. */
export interface Grant {
  readonly tenantId: string
  readonly userId: string
  readonly requestId: string
  readonly [checked]: true
}

/** The caller holds the operation's permission in this space. */
export interface SpaceGrant extends Grant {
  readonly spaceId: string
}

/** The caller holds the operation's permission in these spaces, one or more; for what belongs to the tenant. */
export interface TenantGrant extends Grant {
  readonly spaceIds: readonly string[]
}
