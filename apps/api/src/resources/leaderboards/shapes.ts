// Leaderboards on the wire (contract 2.18, 4.2.10).
import { type Static, Type } from 'typebox'
import { cursor, freeForm, moment, named, text, timestamp } from '../../contract/shapes.ts'
import { Metric } from '../benchmarks/shapes.ts'
import { Evaluation } from '../evaluations/shapes.ts'

const Id = Type.String({ minLength: 1 })

export const LeaderboardQuery = Type.Object({
  ...cursor(10).properties,
  model_id: Type.Optional(Type.String({ minLength: 1, description: 'Only checkpoints of this data model' })),
  name: Type.Optional(Type.String({ minLength: 1, description: 'Only checkpoints with this in their name' })),
  benchmarks: Type.Optional(Type.Array(Id, { description: 'Only checkpoints evaluated by one of these benchmarks' })),
  trainings: Type.Optional(Type.Array(Id, { description: 'Only checkpoints of these trainings' })),
  start_date: Type.Optional(moment),
  end_date: Type.Optional(moment),
  'order_by_metric.metric_name': Type.Optional(Metric),
  'order_by_metric.benchmark_id': Type.Optional(
    Type.String({ minLength: 1, description: 'Without it, the average over all benchmarks counts' }),
  ),
  'order_by_metric.direction': Type.Enum(['asc', 'desc'], { default: 'desc' }),
})
export type LeaderboardQuery = Static<typeof LeaderboardQuery>

export const LeaderboardEntry = named(
  'LeaderboardEntry',
  Type.Object({
    id: text,
    name: text,
    created_at: timestamp,
    created_by: text,
    updated_at: Type.Optional(timestamp),
    updated_by: Type.Optional(text),
    evaluations: Type.Array(Evaluation),
    order_metric_value: Type.Optional(Type.Number()),
    training: Type.Object({ id: text, name: text }),
    webhook_event: Type.Optional(freeForm),
  }),
)
export type LeaderboardEntry = Static<typeof LeaderboardEntry>
