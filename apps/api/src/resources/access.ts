// Asking beforehand (contract 5.2): may I, and why or why not?
import { Type } from 'typebox'
import { explain, isAllowed, seatsAlive } from '../access/authorize.ts'
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
    run: async ({ replica: { snapshot }, caller }, { body: { permission, space } }) => {
      const allowed = isAllowed(snapshot, caller, space, permission)
      const seats = seatsAlive(snapshot, caller, space)
      const held = `Your seats in space ${space} hold ${permission}`
      return { allowed, seats, reason: allowed ? held : explain(snapshot, caller, space, permission) }
    },
  }),
]
