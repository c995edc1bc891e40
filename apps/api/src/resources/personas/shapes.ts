// The shapes of personas and their uploads (contract 2.20, 4.2.12).
import { type Static, Type } from 'typebox'
import { changes, choice, day, freeForm, input, named, text, timestamp } from '../../contract/shapes.ts'

export const NAME_LENGTH_MAX = 500

const fields = {
  name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
  notes: text,
  birthdate: day,
  data: Type.Optional(freeForm),
}

export const NewPersona = named('NewPersona', input(fields))
export const PersonaChanges = named('PersonaChanges', changes(NewPersona))
export const Persona = named(
  'Persona',
  Type.Object({
    id: text,
    ...fields,
    created_at: timestamp,
    created_by: text,
    updated_at: Type.Optional(timestamp),
    updated_by: Type.Optional(text),
  }),
)
export type Persona = Static<typeof Persona>

export const StagedUpload = named(
  'StagedUpload',
  Type.Object({
    status: choice('staged'),
    message: text,
    total: Type.Integer({ description: 'How many personas the files hold' }),
    conflict_personas: Type.Array(Type.Object({ name: text, birthdate: text }), {
      description: 'Rows whose name and birthdate another persona has; the first 100 of them',
    }),
    upload_token: text,
  }),
)

export const Resolution = choice('overwrite', 'create', 'skip')
export type Resolution = Static<typeof Resolution>

export const FinalizeUpload = named(
  'FinalizeUpload',
  input({ upload_token: text, conflict_resolution: Type.Optional(Resolution) }),
)

export const FinalizedUpload = named(
  'FinalizedUpload',
  Type.Object({
    status: choice('finalized'),
    message: text,
    total_uploaded: Type.Integer({ description: 'How many personas were created or overwritten' }),
    conflicts_resolved: Type.Integer({ description: 'How many rows were in conflict' }),
  }),
)
