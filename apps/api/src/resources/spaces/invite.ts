// Invitations (contract 4.2): for each set of roles in a space there is one seat, and an invited address holds it.
import type { Static } from 'typebox'
import { assertNoEscalation, holdingsOf } from '../../access/escalation.ts'
import { newId } from '../../base/ids.ts'
import type { Context } from '../../contract/context.ts'
import { audit } from '../../storage/audit.ts'
import { insertSeat } from '../seats/seats-store.ts'
import type { NewInvitation } from './shapes.ts'
import { findInvitationSeat, getSpace, insertInvitations } from './spaces-store.ts'

export async function invite(
  { replica, jobs, grant, caller, onlySpace }: Context<'own-space'>,
  { emails: given, roles }: Static<typeof NewInvitation>,
) {
  const emails = [...new Set(given.map((email) => email.toLowerCase()))]
  const permissions = [...new Set(roles)].sort()
  const { spaceId } = grant
  return replica.change(grant, async (sql, snapshot, touch) => {
    const holdings = holdingsOf(snapshot, caller, onlySpace)
    assertNoEscalation(holdings, 'spaces:update', { spaces: new Set([spaceId]), permissions: new Set(permissions) })
    const space = await getSpace(sql, grant)

    const key = JSON.stringify([spaceId, permissions])
    let seatId = await findInvitationSeat(sql, grant, key)
    if (!seatId) {
      // Not a name that a group of the identity provider would bear by chance: groups bind to seats by name.
      const name = `invited-${newId()}`
      const seat = await insertSeat(sql, grant, { name, permissions, spaces: [spaceId], invitationKey: key })
      seatId = seat.id
      touch('seat', seatId)
    }
    const fresh = await insertInvitations(sql, grant, seatId, emails)
    for (const email of fresh) {
      await jobs.enqueue(sql, grant, 'invitations.mail', {
        email,
        space: space.name,
        invitedBy: caller.email ?? caller.userId,
      })
    }
    const after = { emails, roles: permissions, seat: seatId }
    await audit(sql, grant, {
      action: 'spaces.invite',
      resource: 'spaces',
      resourceId: spaceId,
      spaces: [spaceId],
      after,
    })
    return { emails }
  })
}
