// Nobody hands out more than they hold: the rules for every path that gives access (contract 5.5).
import { Problem } from '../base/problem.ts'
import { lackIn, WILDCARD } from './authorize.ts'
import type { Caller } from './caller.ts'
import type { LiveSeat, Snapshot } from './snapshot.ts'

interface Held {
  readonly permissions: Set<string>
  /** The names of the seats that give them. */
  readonly seats: string[]
}

/** What the caller's seats, as they live now, hold in each space. */
export interface Holdings {
  readonly bySpace: ReadonlyMap<string, Held>
  /** The one space that the request is limited to, where it says so. */
  readonly only: string | undefined
}

export function holdingsOf(snapshot: Snapshot, caller: Caller, only?: string): Holdings {
  const bySpace = new Map<string, Held>()
  for (const name of caller.seatNames) {
    const seat = snapshot.seat(caller.tenantId, name)
    if (!seat) continue
    for (const space of seat.spaces) {
      if (only !== undefined && only !== space) continue
      const held = bySpace.get(space) ?? { permissions: new Set(), seats: [] }
      for (const permission of seat.permissions) held.permissions.add(permission)
      held.seats.push(name)
      bySpace.set(space, held)
    }
  }
  return { bySpace, only }
}

const holds = ({ bySpace }: Holdings, space: string, permission: string): boolean => {
  const held = bySpace.get(space)?.permissions
  return held !== undefined && (held.has(WILDCARD) || held.has(permission))
}

export interface Access {
  readonly name: string
  readonly spaces: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
}

/** Refuses unless the caller holds `needed`, and everything that is granted, in every space concerned. */
export function assertNoEscalation(holdings: Holdings, needed: string, granted: Omit<Access, 'name'>): void {
  for (const space of granted.spaces) {
    demand(holdings, space, needed)
    for (const permission of granted.permissions) {
      if (holds(holdings, space, permission)) continue
      const seats = holdings.bySpace.get(space)!.seats
      const message = `You cannot grant ${permission} in space ${space}: ${lackIn(seats)}`
      throw new Problem('escalation', message, { access: { space, permission, seats } })
    }
  }
}

export function assertMayUpdate(holdings: Holdings, before: LiveSeat, after: Access): void {
  const renamed = after.name !== before.name
  const shrinks = isSubset(after.permissions, before.permissions) && isSubset(after.spaces, before.spaces)
  if (!renamed && shrinks) {
    // Taking away is safe. Where only spaces are given up, those are the only ones concerned.
    const detachesOnly = after.permissions.size === before.permissions.size && after.spaces.size < before.spaces.size
    const concerned = detachesOnly ? difference(before.spaces, after.spaces) : before.spaces
    for (const space of concerned) demand(holdings, space, 'seats:update')
    return
  }
  for (const space of before.spaces) demand(holdings, space, 'seats:update')
  // A new name binds another group of people: for them the whole seat is new.
  assertNoEscalation(holdings, 'seats:update', after)
}

export function assertMayDelete(holdings: Holdings, seat: LiveSeat): void {
  for (const space of seat.spaces) demand(holdings, space, 'seats:delete')
}

/** The tenant must always have somebody who can do everything somewhere; `after` tells what becomes of each seat. */
export function assertAdminRemains(
  snapshot: Snapshot,
  tenantId: string,
  after: (seat: LiveSeat) => Access | undefined,
): void {
  const isAdmin = (seat: Access) => seat.permissions.has(WILDCARD) && seat.spaces.size > 0
  let last: LiveSeat | undefined
  for (const seat of snapshot.seatsOf(tenantId)) {
    if (!isAdmin(seat)) continue
    const next = after(seat)
    // Under another name it is held by other people, perhaps by nobody.
    if (next && next.name === seat.name && isAdmin(next)) return
    last = seat
  }
  if (!last) return
  const message = `${last.name} is the last seat of this tenant that holds *: it must keep its name, that permission and a space`
  throw new Problem('last_admin_seat', message)
}

function demand(holdings: Holdings, space: string, permission: string): void {
  if (holds(holdings, space, permission)) return
  const { bySpace, only } = holdings
  const seats = bySpace.get(space)?.seats ?? []
  const isLimited = only !== undefined && only !== space
  const reason = isLimited ? `the Space header limits this request to ${only}` : lackIn(seats)
  const message = `This needs ${permission} in space ${space} as well, and ${reason}`
  throw new Problem('forbidden', message, { access: { space, permission, seats } })
}

const isSubset = (small: ReadonlySet<string>, large: ReadonlySet<string>) => small.isSubsetOf(large)
const difference = (all: ReadonlySet<string>, without: ReadonlySet<string>) => all.difference(without)
