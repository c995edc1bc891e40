// The division into training and test rows.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataProblem } from './data-problem.ts'
import { NO_LABEL, splitRows } from './split.ts'

const labels = Uint8Array.from({ length: 1000 }, (_, row) => (row % 50 === 7 ? NO_LABEL : row % 10 === 0 ? 1 : 0))

test('each row with a label lands on exactly one side, and each class in the asked proportion', () => {
  const { train, test: tested } = splitRows(labels, 0.2, 1)
  const rows = [...train, ...tested].sort((a, b) => a - b)
  assert.deepEqual(
    rows,
    [...labels.keys()].filter((row) => labels[row] !== NO_LABEL),
  )
  assert.equal(tested.filter((row) => labels[row] === 1).length, 20)
  assert.equal(tested.filter((row) => labels[row] === 0).length, 176)
})

test('one seed gives one division and another seed another', () => {
  assert.deepEqual(splitRows(labels, 0.3, 5), splitRows(labels, 0.3, 5))
  assert.notDeepEqual(splitRows(labels, 0.3, 5).test, splitRows(labels, 0.3, 6).test)
})

test('a class of two rows is on both sides even when the fraction rounds to nothing', () => {
  const { train, test: tested } = splitRows(Uint8Array.from([0, 0, 0, 0, 1, 1]), 0.01, 0)
  assert.deepEqual([train.length, tested.length], [4, 2])
})

test('a class with a single row is refused', () => {
  assert.throws(() => splitRows(Uint8Array.from([0, 0, 0, 1]), 0.2, 0), DataProblem)
})
