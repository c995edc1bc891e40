// Benchmarks on the wire (contract 2.8, 4.2.1).
import { type Static, Type } from 'typebox'
import { changes, choice, filled, input, named, text, timestamp } from '../../contract/shapes.ts'
import { ConnectorTraining } from '../connectors/shapes.ts'

export const Metric = choice('accuracy', 'f1', 'precision', 'recall', 'roc_auc', 'log_loss', 'ks', 'gini')

const fields = { name: filled, description: text, task: text, metrics: Type.Array(Metric) }

export const NewBenchmark = named('NewBenchmark', input({ ...fields, connectors: Type.Array(ConnectorTraining) }))

export const BenchmarkChanges = named(
  'BenchmarkChanges',
  changes(input({ ...fields, connector: Type.String({ minLength: 1, description: 'The id of a connector to add' }) })),
)

export const Benchmark = named(
  'Benchmark',
  Type.Object({
    id: text,
    ...fields,
    connectors: Type.Array(ConnectorTraining),
    created_at: timestamp,
    created_by: text,
    updated_at: Type.Optional(timestamp),
    updated_by: Type.Optional(text),
  }),
)
export type Benchmark = Static<typeof Benchmark>
