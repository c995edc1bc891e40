// Trainings and their events on the wire (contract 2.22, 2.27, 4.2.13).
import { type Static, Type } from 'typebox'
import { changes, choice, filled, freeForm, input, named, text, timestamp } from '../../contract/shapes.ts'
import { Checkpoint } from '../checkpoints/shapes.ts'
import { ConnectorTraining } from '../connectors/shapes.ts'

const STATUSES = ['validating', 'queued', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled'] as const
export const TrainingStatus = choice(...STATUSES)
export type TrainingStatus = Static<typeof TrainingStatus>

const INT_MAX = 2 ** 31 - 1
export const GpuCount = Type.Integer({ minimum: 0, maximum: INT_MAX })

const fields = {
  name: filled,
  architecture: filled,
  benchmark_ids: Type.Array(filled),
  configuration: freeForm,
}

export const NewTraining = named(
  'NewTraining',
  input({
    ...fields,
    data_model_id: filled,
    gpu_count: GpuCount,
    connectors: Type.Array(ConnectorTraining),
    benchmark_ids: Type.Optional(fields.benchmark_ids),
  }),
)

export const TrainingChanges = named('TrainingChanges', changes(input({ ...fields, connector: ConnectorTraining })))

export const Training = named(
  'Training',
  Type.Object({
    id: text,
    ...fields,
    data_model_id: text,
    gpu_count: Type.Integer(),
    connectors: Type.Array(ConnectorTraining),
    status: TrainingStatus,
    error: Type.Optional(text),
    checkpoints: Type.Array(Checkpoint),
    metrics: Type.Array(freeForm),
    created_at: timestamp,
    updated_at: Type.Optional(timestamp),
  }),
)
export type Training = Static<typeof Training>

export const TrainingEvent = named(
  'TrainingEvent',
  Type.Object({
    id: text,
    status: TrainingStatus,
    attempt: Type.Integer(),
    reason: Type.Optional(text),
    created_at: timestamp,
  }),
)
export type TrainingEvent = Static<typeof TrainingEvent>
