// API keys on the wire (contract 2.24). The key itself is in one answer only: the one to its creation.
import { type Static, Type } from 'typebox'
import { filled, input, moment, named, text, timestamp } from '../../contract/shapes.ts'

const fields = {
  id: text,
  name: text,
  prefix: text,
  seats: Type.Array(text),
  created_at: timestamp,
  created_by: text,
  expires_at: Type.Optional(timestamp),
  last_used_at: Type.Optional(timestamp),
}

export const ApiKey = named('ApiKey', Type.Object(fields))
export type ApiKey = Static<typeof ApiKey>

export const CreatedApiKey = named('CreatedApiKey', Type.Object({ ...fields, key: text }))

export const NewApiKey = named(
  'NewApiKey',
  input({
    name: filled,
    seats: Type.Optional(
      Type.Array(filled, {
        minItems: 1,
        maxItems: 1000,
        description: 'Names of seats you hold; all of them by default.',
      }),
    ),
    expires_at: Type.Optional(moment),
  }),
)
export type NewApiKey = Static<typeof NewApiKey>
