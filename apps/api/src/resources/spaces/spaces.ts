// Spaces (contract 2.21, 4.2): what isolates resources and permissions.
import { WILDCARD } from '../../access/authorize.ts'
import { assertAdminRemains } from '../../access/escalation.ts'
import { Problem } from '../../base/problem.ts'
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { attach } from '../seats/seats-store.ts'
import { invite } from './invite.ts'
import { Invitation, ListedSpace, NewInvitation, NewSpace, Space, SpaceChanges } from './shapes.ts'
import {
  deleteSpace,
  findAdminSeatId,
  getSpace,
  insertSpace,
  listSpaces,
  lockSpace,
  updateSpace,
} from './spaces-store.ts'

/** A token lists the spaces of its seats and is full at 600: nobody who holds the seat could sign in any more. */
const SPACES_OF_A_SEAT_MAX = 500

function assertRoom({ name, spaces }: { name: string; spaces: ReadonlySet<string> }): void {
  if (spaces.size < SPACES_OF_A_SEAT_MAX) return
  const message = `The seat ${name} is in ${spaces.size} spaces, and more would not fit into a token: delete spaces, or divide them among seats`
  throw new Problem('conflict', message)
}

const spaces = resource('spaces', 'tenant')
const space = resource('spaces', 'own-space')

export default [
  spaces.list({
    summary: 'List your spaces',
    query: cursor(10),
    result: pageOf(ListedSpace),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listSpaces(sql, grant, query)),
  }),

  // The new space belongs to the administrators and to the seats that let its maker make it; a refreshed token knows it.
  spaces.create({
    summary: 'Create a space',
    body: NewSpace,
    result: Space,
    run: ({ replica, grant, caller, onlySpace }, { body }) =>
      replica.change(grant, async (sql, snapshot, touch) => {
        const made = await insertSpace(sql, grant, body)
        const seatIds = new Set<string>()
        const adminSeatId = await findAdminSeatId(sql, grant)
        if (adminSeatId && snapshot.seatById(grant.tenantId, adminSeatId)) seatIds.add(adminSeatId)
        for (const name of caller.seatNames) {
          const seat = snapshot.seat(grant.tenantId, name)
          if (!seat || (onlySpace !== undefined && !seat.spaces.has(onlySpace))) continue
          if (seat.permissions.has(WILDCARD) || seat.permissions.has('spaces:create')) seatIds.add(seat.id)
        }
        for (const seatId of seatIds) {
          assertRoom(snapshot.seatById(grant.tenantId, seatId)!)
          await attach(sql, grant, seatId, [made.id])
          touch('seat', seatId)
        }
        const after = { ...body, seats: [...seatIds] }
        await audit(sql, grant, {
          action: 'spaces.create',
          resource: 'spaces',
          resourceId: made.id,
          spaces: [made.id],
          after,
        })
        return made
      }),
  }),

  space.get({
    summary: 'Get a space',
    result: Space,
    run: ({ db, grant }) => db.as(grant, (sql) => getSpace(sql, grant)),
  }),

  space.update({
    summary: 'Update a space',
    body: SpaceChanges,
    result: Space,
    run: ({ db, grant }, { id, body }) =>
      db.begin(grant, async (sql) => {
        await lockSpace(sql, grant)
        const before = await getSpace(sql, grant)
        if (Object.keys(body).length === 0) return before
        const after = { name: body.name ?? before.name, description: body.description ?? before.description }
        const changed = await updateSpace(sql, grant, after)
        const entry = { before: { name: before.name, description: before.description }, after }
        await audit(sql, grant, { action: 'spaces.update', resource: 'spaces', resourceId: id, spaces: [id], ...entry })
        return changed
      }),
  }),

  space.remove({
    summary: 'Delete a space and everything in it',
    run: ({ replica, grant, jobs }, { id }) =>
      replica.change(grant, async (sql, snapshot, touch) => {
        const { name, description } = await getSpace(sql, grant)
        const attached = [...snapshot.seatsOf(grant.tenantId)].filter((seat) => seat.spaces.has(id))
        assertAdminRemains(snapshot, grant.tenantId, (seat) => ({
          ...seat,
          spaces: seat.spaces.difference(new Set([id])),
        }))
        for (const seat of attached) touch('seat', seat.id)
        await deleteSpace(sql, grant)
        await jobs.enqueue(sql, grant, 'checkpoints.remove-files', {})
        const before = { name, description, seats: attached.map((seat) => seat.name) }
        await audit(sql, grant, { action: 'spaces.delete', resource: 'spaces', resourceId: id, spaces: [id], before })
      }),
  }),

  space.action(
    'invite',
    'POST',
    '/invitations',
  )({
    summary: 'Invite people to a space by their e-mail addresses',
    permission: 'spaces:update',
    body: NewInvitation,
    result: Invitation,
    run: (context, { body }) => invite(context, body),
  }),
]
