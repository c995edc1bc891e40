// Spaces and invitations on the wire (contract 2.21, 4.2).
import { type Static, Type } from 'typebox'
import { changes, choice, filled, formed, input, named, text, timestamp } from '../../contract/shapes.ts'

export const NewSpace = named('NewSpace', input({ name: filled, description: text }))
export const SpaceChanges = named('SpaceChanges', changes(NewSpace))

const common = { id: text, name: text, description: text, created_at: timestamp, updated_at: Type.Optional(timestamp) }

/** In the answers to create, get and update, people are named by their identifier. */
export const Space = named('Space', Type.Object({ ...common, created_by: text, updated_by: Type.Optional(text) }))
export type Space = Static<typeof Space>

const Person = named(
  'Person',
  Type.Object({
    id: text,
    email: Type.Optional(text),
    external_id: text,
    first_name: Type.Optional(text),
    last_name: Type.Optional(text),
    role: Type.Optional(choice('designer', 'developer')),
  }),
)

/** In lists, people are shown. */
export const ListedSpace = named(
  'ListedSpace',
  Type.Object({ ...common, created_by: Person, updated_by: Type.Optional(Person) }),
)
export type ListedSpace = Static<typeof ListedSpace>

/** The permissions an invitation may give. */
const Role = choice(
  'benchmarks:create',
  'benchmarks:get',
  'benchmarks:list',
  'evaluations:create',
  'leaderboards:list',
  'trainings:create',
  'trainings:delete',
  'trainings:get',
  'trainings:list',
  'trainings:update',
  'data-models:create',
  'data-models:delete',
  'data-models:get',
  'data-models:list',
  'data-models:update',
)
const Email = formed('an e-mail address, such as ana@example.org', /^[^\s@<>"(),;:]+@[^\s@<>"(),;:]+$/, {
  maxLength: 254,
})

export const NewInvitation = named(
  'NewInvitation',
  input({
    emails: Type.Array(Email, { minItems: 1, maxItems: 100 }),
    roles: Type.Array(Role, { minItems: 1 }),
  }),
)
export const Invitation = named('Invitation', Type.Object({ emails: Type.Array(text) }))
