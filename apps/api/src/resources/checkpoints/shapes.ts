// Checkpoints on the wire: the list form and the full form (contract 2.10).
import { type Static, Type } from 'typebox'
import { freeForm, named, text, timestamp } from '../../contract/shapes.ts'

const common = {
  id: text,
  name: text,
  training_id: text,
  training_name: text,
  webhook_event: Type.Optional(freeForm),
}

export const ListedCheckpoint = named('ListedCheckpoint', Type.Object(common))
export type ListedCheckpoint = Static<typeof ListedCheckpoint>

export const Checkpoint = named(
  'Checkpoint',
  Type.Object({
    _id: text,
    ...common,
    created_at: timestamp,
    created_by: text,
    updated_at: Type.Optional(timestamp),
    updated_by: Type.Optional(text),
    data_model_id: text,
    core_id: Type.Optional(text),
    space: text,
    sha256: text,
  }),
)
export type Checkpoint = Static<typeof Checkpoint>
