// What a training may be told (docs/contract.md, 2.22): the settings of each architecture, their bounds and defaults.
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { DataProblem } from './data-problem.ts'

const common = {
  target: Type.String({ minLength: 1 }),
  features: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1, uniqueItems: true })),
  test_fraction: Type.Number({ minimum: 0.01, maximum: 0.9, default: 0.2 }),
  seed: Type.Integer({ minimum: 0, maximum: 0xffff_ffff, default: 0 }),
}

const LogisticRegression = Type.Object(
  {
    ...common,
    epochs: Type.Integer({ minimum: 1, maximum: 10_000, default: 20 }),
    learning_rate: Type.Number({ exclusiveMinimum: 0, maximum: 10, default: 0.05 }),
    l2: Type.Number({ minimum: 0, maximum: 1e6, default: 0.0001 }),
  },
  { additionalProperties: false },
)

const GradientBoostedTrees = Type.Object(
  {
    ...common,
    trees: Type.Integer({ minimum: 1, maximum: 10_000, default: 100 }),
    learning_rate: Type.Number({ exclusiveMinimum: 0, maximum: 1, default: 0.1 }),
    leaves: Type.Integer({ minimum: 2, maximum: 1024, default: 31 }),
    bins: Type.Integer({ minimum: 2, maximum: 255, default: 255 }),
    min_rows: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 20 }),
    /** Rounds without a better test loss after which training ends; 0 never ends it early. */
    early_stopping: Type.Integer({ minimum: 0, maximum: 10_000, default: 20 }),
  },
  { additionalProperties: false },
)

export const TrainingConfiguration = {
  'logistic-regression': LogisticRegression,
  'gradient-boosted-trees': GradientBoostedTrees,
} as const

export type Architecture = keyof typeof TrainingConfiguration
export type LogisticRegressionConfiguration = Static<typeof LogisticRegression>
export type GradientBoostedTreesConfiguration = Static<typeof GradientBoostedTrees>
export type Settings =
  | { architecture: 'logistic-regression'; configuration: LogisticRegressionConfiguration }
  | { architecture: 'gradient-boosted-trees'; configuration: GradientBoostedTreesConfiguration }

/** Fills in what was left out; every fault is named in one message. */
export function parseSettings(architecture: string, given: unknown): Settings {
  if (!Object.hasOwn(TrainingConfiguration, architecture)) {
    const offered = Object.keys(TrainingConfiguration).join(' and ')
    throw new DataProblem(`The architecture ${architecture} is not offered; ${offered} are.`)
  }
  const schema = TrainingConfiguration[architecture as Architecture]
  const configuration = Value.Default(schema, structuredClone(given ?? {}))
  const faults = Value.Errors(schema, configuration).flatMap(({ keyword, instancePath, params, message }) => {
    if (keyword === 'boolean') return []
    if (keyword === 'additionalProperties') {
      return (params as { additionalProperties: string[] }).additionalProperties.map((key) => `${key} is not a setting`)
    }
    return [`${instancePath.slice(1).replaceAll('/', '.')} ${message}`.trim()]
  })
  if (faults.length > 0) throw new DataProblem(`The configuration is not valid: ${faults.join('; ')}.`)
  return { architecture, configuration } as Settings
}
