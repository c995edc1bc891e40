// Seats (contract 4.1): who may do what, and where. Every change counts on every replica before it is answered.
import {
  assertAdminRemains,
  assertMayDelete,
  assertMayUpdate,
  assertNoEscalation,
  holdingsOf,
} from '../../access/escalation.ts'
import type { LiveSeat, Snapshot } from '../../access/snapshot.ts'
import type { TenantGrant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { assertSpacesExist, deleteSeat, getSeat, insertSeat, listSeats, updateSeat } from './seats-store.ts'
import { ListedSeat, NewSeat, Seat, SeatChanges } from './shapes.ts'

const seats = resource('seats', 'tenant')

export default [
  seats.list({
    summary: 'List the seats of your spaces',
    query: cursor(20),
    result: pageOf(ListedSeat),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listSeats(sql, grant, query)),
  }),

  seats.create({
    summary: 'Create a seat',
    body: NewSeat,
    result: Seat,
    run: ({ replica, grant, caller, onlySpace }, { body }) =>
      replica.change(grant, async (sql, snapshot, touch) => {
        const wanted = { name: body.name, spaces: unique(body.spaces), permissions: unique(body.permissions) }
        await assertSpacesExist(sql, grant, wanted.spaces)
        assertNoEscalation(holdingsOf(snapshot, caller, onlySpace), 'seats:create', asSets(wanted))
        const seat = await insertSeat(sql, grant, wanted)
        await audit(sql, grant, {
          action: 'seats.create',
          resource: 'seats',
          resourceId: seat.id,
          spaces: seat.spaces,
          after: wanted,
        })
        touch('seat', seat.id)
        return seat
      }),
  }),

  seats.get({
    summary: 'Get a seat',
    result: Seat,
    run: ({ db, grant }, { id }) => db.as(grant, (sql) => getSeat(sql, grant, id)),
  }),

  seats.update({
    summary: 'Update a seat: only what is given changes',
    body: SeatChanges,
    result: Seat,
    run: ({ replica, grant, caller, onlySpace }, { id, body }) =>
      replica.change(grant, async (sql, snapshot, touch) => {
        const live = visibleSeat(snapshot, grant, id)
        const before = await getSeat(sql, grant, id)
        if (Object.keys(body).length === 0) return before
        const after = {
          name: body.name ?? before.name,
          spaces: unique(body.spaces ?? before.spaces),
          permissions: unique(body.permissions ?? before.permissions),
        }
        if (body.spaces) await assertSpacesExist(sql, grant, after.spaces)
        assertMayUpdate(holdingsOf(snapshot, caller, onlySpace), live, asSets(after))
        assertAdminRemains(snapshot, grant.tenantId, (seat) => (seat.id === id ? asSets(after) : seat))
        const seat = await updateSeat(sql, grant, id, after)
        await audit(sql, grant, {
          action: 'seats.update',
          resource: 'seats',
          resourceId: id,
          spaces: unique([...before.spaces, ...after.spaces]),
          before: { name: before.name, spaces: before.spaces, permissions: before.permissions },
          after,
        })
        touch('seat', id)
        return seat
      }),
  }),

  seats.remove({
    summary: 'Delete a seat: it grants nothing from the next request on',
    run: ({ replica, grant, caller, onlySpace }, { id }) =>
      replica.change(grant, async (sql, snapshot, touch) => {
        const seat = visibleSeat(snapshot, grant, id)
        assertMayDelete(holdingsOf(snapshot, caller, onlySpace), seat)
        assertAdminRemains(snapshot, grant.tenantId, (other) => (other.id === id ? undefined : other))
        await deleteSeat(sql, grant, id)
        const spaces = [...seat.spaces]
        const before = { name: seat.name, spaces, permissions: [...seat.permissions] }
        await audit(sql, grant, { action: 'seats.delete', resource: 'seats', resourceId: id, spaces, before })
        touch('seat', id)
      }),
  }),
]

/** A seat that shares no space with the caller's permission is as good as none: nobody learns of it. */
function visibleSeat(snapshot: Snapshot, grant: TenantGrant, id: string): LiveSeat {
  const seat = snapshot.seatById(grant.tenantId, id)
  if (!seat || !grant.spaceIds.some((space) => seat.spaces.has(space))) throw new Problem('not_found', 'No such seat')
  return seat
}

const unique = (items: readonly string[]): string[] => [...new Set(items)]
const asSets = ({ name, spaces, permissions }: { name: string; spaces: string[]; permissions: string[] }) => ({
  name,
  spaces: new Set(spaces),
  permissions: new Set(permissions),
})
