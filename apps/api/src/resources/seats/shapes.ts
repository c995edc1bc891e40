// Seats on the wire (contract 2.1, 4.1).
import { type Static, Type } from 'typebox'
import { changes, filled, formed, input, named, text, timestamp } from '../../contract/shapes.ts'

const SeatName = formed(
  'text without spaces at either end and without control characters; the identity provider’s groups are matched with it',
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
  /^[^\u0000-\u001f\u007f\s](?:[^\u0000-\u001f\u007f]*[^\u0000-\u001f\u007f\s])?$/,
  { minLength: 1, maxLength: 200 },
)
export const Permission = formed(
  '`<resource>:<operation>`, such as `trainings:list`, or `*` for every operation',
  /^(?:\*|[a-z][a-z0-9-]*:[a-z][a-z-]*)$/,
  { maxLength: 100 },
)
const SpaceIds = Type.Array(filled, { minItems: 1, maxItems: 1000 })
const Permissions = Type.Array(Permission, { maxItems: 1000 })

export const NewSeat = named('NewSeat', input({ name: SeatName, spaces: SpaceIds, permissions: Permissions }))
export const SeatChanges = named('SeatChanges', changes(NewSeat))

export const Seat = named(
  'Seat',
  Type.Object({
    id: text,
    name: text,
    spaces: Type.Array(text),
    permissions: Type.Array(text),
    created_by: text,
    created_at: timestamp,
    updated_by: Type.Optional(text),
    updated_at: Type.Optional(timestamp),
  }),
)
export type Seat = Static<typeof Seat>

export const ListedSeat = named(
  'ListedSeat',
  Type.Object({
    id: text,
    name: text,
    spaces: Type.Array(text),
    permissions: Type.Array(text),
    member_count: Type.Integer(),
    created_at: timestamp,
  }),
)
export type ListedSeat = Static<typeof ListedSeat>
