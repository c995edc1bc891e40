// A logistic regression as its checkpoint holds it: one weight per input, in the units of the table.
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { type Column, NO_CATEGORY } from '../data/table.ts'
import { DataProblem } from '../data-problem.ts'

const NumberInput = Type.Object({
  kind: Type.Literal('number'),
  /** A value counts as (value - mean) · scale; a missing one as the mean, plus a weight of its own. */
  mean: Type.Number(),
  scale: Type.Number(),
  weight: Type.Number(),
  missing: Type.Number(),
})
const CategoryInput = Type.Object({
  kind: Type.Literal('category'),
  weights: Type.Array(Type.Number()),
  missing: Type.Number(),
})
export const LinearModel = Type.Object({
  model: Type.Literal('logistic-regression'),
  version: Type.Literal(1),
  intercept: Type.Number(),
  inputs: Type.Array(Type.Union([NumberInput, CategoryInput])),
})
export type LinearModel = Static<typeof LinearModel>
export type Input = LinearModel['inputs'][number]

export const writeLinear = (model: LinearModel) => `${JSON.stringify(model, undefined, 1)}\n`

export function readLinear(json: string): LinearModel {
  try {
    const parsed: unknown = JSON.parse(json)
    if (Value.Check(LinearModel, parsed)) return parsed
  } catch {
    // Text that is not JSON ends below like JSON of another shape.
  }
  throw new DataProblem('The model file is damaged: it is not a logistic regression.')
}

export function predictLinear({ intercept, inputs }: LinearModel, columns: readonly Column[], rows: number) {
  const scores = new Float64Array(rows).fill(intercept)
  inputs.forEach((input, at) => {
    const column = columns[at]!
    if (input.kind === 'number' && column.kind === 'number') addNumbers(scores, input, column.values)
    else if (input.kind === 'category' && column.kind === 'category') addCategories(scores, input, column.codes)
    else throw new DataProblem(`The column ${column.name} does not fit the model's inputs.`)
  })
  return scores.map((score) => 1 / (1 + Math.exp(-score)))
}

function addNumbers(
  scores: Float64Array,
  input: Static<typeof NumberInput>,
  values: Float32Array | Float64Array,
): void {
  const { mean, scale, weight, missing } = input
  for (let row = 0; row < scores.length; row++) {
    const value = values[row]!
    scores[row]! += Number.isNaN(value) ? missing : (value - mean) * scale * weight
  }
}

function addCategories(
  scores: Float64Array,
  { weights, missing }: Static<typeof CategoryInput>,
  codes: Int32Array,
): void {
  for (let row = 0; row < scores.length; row++) {
    const code = codes[row]!
    scores[row]! += code === NO_CATEGORY ? missing : (weights[code] ?? missing)
  }
}
