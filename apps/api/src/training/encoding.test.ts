// Targets and their two values, and which columns a model takes from a table.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Column } from './data/table.ts'
import { learnTarget, parseEncoding, toLabels } from './encoding.ts'
import { NO_LABEL } from './split.ts'

const numbers = (...values: number[]): Column => ({ name: 'y', kind: 'number', values: Float64Array.from(values) })
const words = (categories: string[], ...codes: number[]): Column => ({
  name: 'y',
  kind: 'category',
  categories,
  codes: Int32Array.from(codes),
})

test('the larger number or the later word is the positive class', () => {
  assert.deepEqual(learnTarget(numbers(2, 1, Number.NaN, 2)), { name: 'y', negative: 1, positive: 2 })
  assert.deepEqual(learnTarget(words(['no', 'yes'], 1, 0)), { name: 'y', negative: 'no', positive: 'yes' })
})

test('labels follow the recorded values and mark what is missing', () => {
  const target = { name: 'y', negative: 'no', positive: 'yes' }
  assert.deepEqual([...toLabels(words(['no', 'yes'], 1, 0, -1), target)], [1, 0, NO_LABEL])
  assert.deepEqual([...toLabels(words(['yes'], 0, 0), target)], [1, 1])
  const numeric = { name: 'y', negative: 0, positive: 1 }
  assert.deepEqual([...toLabels(numbers(0, 1, Number.NaN), numeric)], [0, 1, NO_LABEL])
})

test('a target without exactly two values is refused, and so is a value the model never saw', () => {
  assert.throws(
    () => learnTarget(numbers(0, 1, 2)),
    /^DataProblem: The target y has more than two values \(0, 1, 2, …\)/,
  )
  assert.throws(() => learnTarget(numbers(1, 1)), /one value only \(1\)/)
  assert.throws(() => learnTarget(words([], -1)), /no values/)
  assert.throws(
    () => toLabels(numbers(0, 3), { name: 'y', negative: 0, positive: 1 }),
    /holds 3, which is neither 0 nor 1/,
  )
})

test('an encoding that is not one is refused', () => {
  for (const text of ['', '{', '{}', '{"version":2}']) assert.throws(() => parseEncoding(text), /damaged/)
})
