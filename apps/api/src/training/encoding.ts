// How a table's columns become a model's inputs; kept beside every checkpoint, so any engine reads data alike.
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { categoriesOf } from './data/categories.ts'
import type { Dataset } from './data/dataset.ts'
import type { Column, ColumnPlan } from './data/table.ts'
import { DataProblem } from './data-problem.ts'
import { NO_LABEL } from './split.ts'

const value = Type.Union([Type.Number(), Type.String()])
const Feature = Type.Union([
  Type.Object({ name: Type.String(), kind: Type.Literal('number') }),
  /** A category's number in the model is its place in this list. */
  Type.Object({ name: Type.String(), kind: Type.Literal('category'), categories: Type.Array(Type.String()) }),
])
export const Encoding = Type.Object({
  version: Type.Literal(1),
  target: Type.Object({ name: Type.String(), negative: value, positive: value }),
  features: Type.Array(Feature, { minItems: 1 }),
})
export type Encoding = Static<typeof Encoding>
export type Feature = Static<typeof Feature>
export type Target = Encoding['target']

export function parseEncoding(json: string): Encoding {
  try {
    const parsed: unknown = JSON.parse(json)
    if (Value.Check(Encoding, parsed)) return parsed
  } catch {
    // Text that is not JSON ends below like JSON of another shape.
  }
  throw new DataProblem("The checkpoint's feature encoding is damaged.")
}

/** The columns a training reads: the target first, then the features. */
export function chosenColumns(dataset: Dataset, target: string, features: readonly string[] | undefined) {
  const byName = new Map(dataset.columns.map((column) => [column.name, column]))
  if (!byName.has(target)) throw new DataProblem(`There is no column ${target}, which is to be the target.`)
  const chosen = features ?? [...byName.keys()].filter((name) => name !== target)
  const lacking = chosen.filter((name) => !byName.has(name))
  if (lacking.length > 0) throw new DataProblem(`There is no column ${lacking.join(', ')} among the data's columns.`)
  if (chosen.includes(target)) throw new DataProblem(`The column ${target} cannot be the target and a feature.`)
  if (chosen.length === 0) throw new DataProblem(`There is no column besides the target ${target} to learn from.`)
  const columns = [target, ...chosen].map((name) => byName.get(name)!)
  const useless = columns.find(({ kind }) => kind === 'other')
  if (useless) {
    throw new DataProblem(`The column ${useless.name} is ${useless.type}, which a model cannot use: name the features.`)
  }
  return columns
}

/** Finds the two values of a target; the larger, or alphabetically later, is the positive class. */
export function learnTarget(column: Column): Target {
  const found = new Set<number | string>()
  if (column.kind === 'category') for (const category of column.categories) found.add(category)
  else {
    for (const number of column.values) {
      if (found.size > 2) break
      if (!Number.isNaN(number)) found.add(number)
    }
  }
  if (found.size !== 2) throw new DataProblem(`The target ${column.name} ${countOf(found)}; it needs exactly two.`)
  const [negative, positive] = [...found].sort((a, b) => (a < b ? -1 : 1)) as [number | string, number | string]
  return { name: column.name, negative, positive }
}

function countOf(found: Set<number | string>): string {
  const shown = [...found].slice(0, 3).join(', ')
  if (found.size === 0) return 'has no values'
  return found.size === 1 ? `has one value only (${shown})` : `has more than two values (${shown}, …)`
}

/** 1 for the positive class, 0 for the other, NO_LABEL where the target is missing. */
export function toLabels(column: Column, { name, negative, positive }: Target): Uint8Array {
  const array = column.kind === 'category' ? column.codes : column.values
  const labels = new Uint8Array(array.length)
  for (let row = 0; row < array.length; row++) {
    const given = column.kind === 'category' ? column.categories[array[row]!] : array[row]!
    if (given === positive) labels[row] = 1
    else if (given === undefined || Number.isNaN(given)) labels[row] = NO_LABEL
    else if (given !== negative) {
      throw new DataProblem(`The column ${name} holds ${given}, which is neither ${negative} nor ${positive}.`)
    }
  }
  return labels
}

/** The columns a model reads from other data: the target first, then its features. */
export async function planFor(dataset: Dataset, { target, features }: Encoding): Promise<ColumnPlan[]> {
  const byName = new Map(dataset.columns.map((column) => [column.name, column]))
  const lacking = [target.name, ...features.map(({ name }) => name)].filter((name) => !byName.has(name))
  if (lacking.length > 0) throw new DataProblem(`The data have no column ${lacking.join(', ')}, which the model needs.`)
  const plan = [await targetPlan(dataset, target), ...features]
  for (const { name, kind: wanted } of plan) {
    const { kind, type } = byName.get(name)!
    if (kind === 'other' || (kind === 'text' && wanted === 'number')) {
      throw new DataProblem(
        `The column ${name} is ${type}, but the model was trained on ${wanted === 'number' ? 'numbers' : 'text'}.`,
      )
    }
  }
  return plan
}

// The values that are there, not the two that should be, so that a third one is noticed.
async function targetPlan(dataset: Dataset, { name, positive }: Target): Promise<ColumnPlan> {
  if (typeof positive === 'number') return { name, kind: 'number' }
  return { name, kind: 'category', categories: (await categoriesOf(dataset, [name])).get(name)! }
}
