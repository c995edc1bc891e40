// The permission check (contract 5.2): the live seats a caller holds in a space decide what the caller may do there.
import type { Grant, SpaceGrant, TenantGrant } from '../base/grant.ts'
import { Problem } from '../base/problem.ts'
import type { Caller } from './caller.ts'
import type { LiveSeat, Snapshot } from './snapshot.ts'

export const WILDCARD = '*'

/** The live seat must still contain the space: a token's entry alone grants nothing. */
function seatIn(snapshot: Snapshot, caller: Caller, spaceId: string, name: string): LiveSeat | undefined {
  const seat = snapshot.seat(caller.tenantId, name)
  return seat?.spaces.has(spaceId) ? seat : undefined
}

const grants = (seat: LiveSeat, permission: string) =>
  seat.permissions.has(WILDCARD) || seat.permissions.has(permission)

export function isAllowed(snapshot: Snapshot, caller: Caller, spaceId: string, permission: string): boolean {
  const names = caller.namesBySpace ? caller.namesBySpace.get(spaceId) : caller.seatNames
  if (!names) return false
  for (const name of names) {
    const seat = seatIn(snapshot, caller, spaceId, name)
    if (seat && grants(seat, permission)) return true
  }
  return false
}

/** The caller's seats that live, in one space or anywhere, whether or not the token knows that they are there. */
export function seatsAlive(snapshot: Snapshot, caller: Caller, spaceId: string | undefined): string[] {
  const { tenantId, seatNames } = caller
  if (spaceId === undefined) return seatNames.filter((name) => snapshot.seat(tenantId, name))
  return seatNames.filter((name) => seatIn(snapshot, caller, spaceId, name))
}

/** Where the caller's seats, as they live now, hold a permission; for what belongs to the tenant and not to a space. */
export function spacesAllowing(snapshot: Snapshot, caller: Caller, permission: string, only?: string): string[] {
  const spaces = new Set<string>()
  for (const name of caller.seatNames) {
    const seat = snapshot.seat(caller.tenantId, name)
    if (!seat || !grants(seat, permission)) continue
    for (const space of seat.spaces) if (only === undefined || only === space) spaces.add(space)
  }
  return [...spaces]
}

export function authorizeInSpace(
  snapshot: Snapshot,
  caller: Caller,
  spaceId: string,
  permission: string,
  requestId: string,
): SpaceGrant {
  if (!isAllowed(snapshot, caller, spaceId, permission)) throw refusal(snapshot, caller, spaceId, permission)
  return { tenantId: caller.tenantId, userId: caller.userId, requestId, spaceId } as SpaceGrant
}

export function authorizeInTenant(
  snapshot: Snapshot,
  caller: Caller,
  only: string | undefined,
  permission: string,
  requestId: string,
): TenantGrant {
  const spaceIds = spacesAllowing(snapshot, caller, permission, only)
  if (spaceIds.length === 0) throw refusal(snapshot, caller, only, permission)
  return { tenantId: caller.tenantId, userId: caller.userId, requestId, spaceIds } as unknown as TenantGrant
}

/** For operations on a space itself, which the caller's seats reach as they live now: it may be a moment old. */
export function authorizeOnSpace(
  snapshot: Snapshot,
  caller: Caller,
  spaceId: string,
  permission: string,
  requestId: string,
): SpaceGrant {
  if (spacesAllowing(snapshot, caller, permission, spaceId).length === 0) {
    throw refusal(snapshot, caller, spaceId, permission)
  }
  return { tenantId: caller.tenantId, userId: caller.userId, requestId, spaceId } as SpaceGrant
}

/** For the operations that need nothing but a valid token. */
export const admit = (caller: Caller, requestId: string): Grant =>
  ({ tenantId: caller.tenantId, userId: caller.userId, requestId }) as Grant

export function refusal(snapshot: Snapshot, caller: Caller, space: string | undefined, permission: string): Problem {
  const seats = seatsAlive(snapshot, caller, space)
  const message = explain(snapshot, caller, space, permission)
  return new Problem('forbidden', message, { access: { space, permission, seats } })
}

/** Why a permission was refused. It tells of no seat but the caller's own, and of no space but those these are in. */
export function explain(snapshot: Snapshot, caller: Caller, space: string | undefined, permission: string): string {
  const seats = seatsAlive(snapshot, caller, space)
  if (space === undefined) {
    const lack = seats.length === 0 ? 'you hold no seat' : `your seats (${seats.join(', ')}) do not hold it`
    return `This needs ${permission} in at least one space, and ${lack}`
  }
  // Only a token can keep somebody from what their seats hold: it came before they were in this space.
  const unused = seats.filter((name) => grants(snapshot.seat(caller.tenantId, name)!, permission))
  if (unused.length > 0) {
    const held = `Your seats there (${unused.join(', ')}) hold it, but your token is older than that`
    return `This needs ${permission} in space ${space}. ${held}: get a new one by POST /v1/auth/refresh`
  }
  return `This needs ${permission} in space ${space}, and ${lackIn(seats)}`
}

/** What is amiss with the seats somebody has in a space that was just named. */
export const lackIn = (seats: readonly string[]): string =>
  seats.length === 0 ? 'you hold no seat there' : `your seats there (${seats.join(', ')}) do not hold it`
