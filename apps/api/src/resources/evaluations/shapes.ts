// Evaluations on the wire (contract 2.14).
import { type Static, Type } from 'typebox'
import { choice, filled, input, named, recordOf, text, timestamp } from '../../contract/shapes.ts'
import { GpuCount } from '../trainings/shapes.ts'

export const NewEvaluation = named(
  'NewEvaluation',
  input({ benchmark_id: filled, checkpoint_id: filled, gpu_count: GpuCount }),
)

export const Evaluation = named(
  'Evaluation',
  Type.Object({
    id: text,
    benchmark_id: text,
    checkpoint_id: text,
    gpu_count: Type.Integer(),
    status: choice('queued', 'running', 'succeeded', 'failed'),
    error: Type.Optional(text),
    result: Type.Optional(recordOf(Type.Number())),
    created_at: timestamp,
    created_by: text,
    updated_at: Type.Optional(timestamp),
    updated_by: Type.Optional(text),
  }),
)
export type Evaluation = Static<typeof Evaluation>
