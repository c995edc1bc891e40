// What a logistic regression makes of values, missing ones and categories it has not met.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Column } from '../data/table.ts'
import { type LinearModel, predictLinear, readLinear, writeLinear } from './linear-model.ts'
import { standardOf } from './standard.ts'

const model: LinearModel = {
  model: 'logistic-regression',
  version: 1,
  intercept: 0.5,
  inputs: [
    { kind: 'number', mean: 10, scale: 0.5, weight: 2, missing: -1 },
    { kind: 'category', weights: [1, -1], missing: 0.25 },
  ],
}
const columns: Column[] = [
  { name: 'n', kind: 'number', values: Float64Array.from([10, 12, Number.NaN]) },
  { name: 'c', kind: 'category', codes: Int32Array.from([0, 1, -1]), categories: ['a', 'b'] },
]
const logistic = (score: number) => 1 / (1 + Math.exp(-score))

test('a row scores the sum of its inputs, with missing ones at their own weights', () => {
  assert.deepEqual([...predictLinear(model, columns, 3)], [0.5 + 1, 0.5 + 2 - 1, 0.5 - 1 + 0.25].map(logistic))
})

test('a model that was written reads back equal, and anything else is refused', () => {
  assert.deepEqual(readLinear(writeLinear(model)), model)
  for (const text of ['', '{}', writeLinear(model).slice(0, -9)]) assert.throws(() => readLinear(text), /damaged/)
})

test('columns of another kind than the inputs are refused', () => {
  assert.throws(() => predictLinear(model, columns.toReversed(), 3), /does not fit/)
})

test('a column is brought to mean zero and spread one over the given rows', () => {
  const rows = Uint32Array.from([0, 1, 2])
  assert.deepEqual(standardOf(Float64Array.from([1, 3, Number.NaN, 99]), rows), { mean: 2, scale: 1 })
  assert.deepEqual(standardOf(Float64Array.from([5, 5, 5]), rows), { mean: 5, scale: 0 })
  assert.deepEqual(standardOf(new Float64Array(3).fill(Number.NaN), rows), { mean: 0, scale: 0 })
  const huge = standardOf(Float64Array.from([1e300, -1e300, 0]), rows)
  assert.ok(Math.abs(huge.scale * 1e300 - Math.sqrt(1.5)) < 1e-12)
})
