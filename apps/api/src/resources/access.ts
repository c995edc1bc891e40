// Asking beforehand (contract 5.2): may I, and why or why not?
import { Type } from 'typebox'
import { explain, isAllowed, seatsConsidered } from '../access/authorize.ts'
import { resource } from '../contract/resource.ts'
import { filled, input, named, text } from '../contract/shapes.ts'
import { Permission } from './seats/shapes.ts'

export default [
  resource('access', 'person').action(
    'check',
    'POST',
    '/check',
  )({
    summary: 'Ask whether you hold a permission in a space',
    body: named('AccessQuestion', input({ permission: Permission, space: filled })),
    result: named('AccessAnswer', Type.Object({ allowed: Type.Boolean(), seats: Type.Array(text), reason: text })),
    run: async ({ replica, caller }, { body: { permission, space } }) => {
      const allowed = isAllowed(replica.snapshot, caller, space, permission)
      const seats = seatsConsidered(replica.snapshot, caller, space)
      const reason = allowed ? `Your seats in space ${space} hold ${permission}` : explain(space, permission, seats)
      return { allowed, seats, reason }
    },
  }),
]
