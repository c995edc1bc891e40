// Where the borders between bins fall.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../random.ts'
import { boundsOf, learnCategoryBins, learnNumberBins } from './binning.ts'

const sorted = (...values: number[]) => Float64Array.from(values).sort()

test('as many bins as distinct values divide them all, half way between', () => {
  assert.deepEqual([...boundsOf(sorted(1, 1, 2, 4), 3)], [1.5, 3])
  assert.deepEqual([...boundsOf(sorted(7, 7, 7), 3)], [])
  assert.deepEqual([...boundsOf(sorted(), 3)], [])
})

test('many values fall into bins of about equal count', () => {
  const random = seededRandom(2)
  const values = Float64Array.from({ length: 10_000 }, () => random() ** 3).sort()
  const bounds = boundsOf(values, 20)
  assert.equal(bounds.length, 19)
  const counts = Array.from(
    bounds,
    (bound, at) => values.filter((v) => v <= bound && v > (bounds[at - 1] ?? -1)).length,
  )
  for (const count of counts) assert.ok(count >= 490 && count <= 510, `${counts}`)
})

test('a value that fills a bin by itself shares it with no other', () => {
  const values = Float64Array.from({ length: 1000 }, (_, at) => (at < 700 ? 5 : at / 100)).sort()
  const bounds = boundsOf(values, 10)
  const own = bounds.findIndex((bound) => bound > 5)
  assert.ok(bounds[own]! < 7)
  assert.ok(bounds.length < 10)
})

test('a bound between neighbouring numbers separates them', () => {
  const next = 1 + Number.EPSILON
  assert.deepEqual([...boundsOf(sorted(1, next), 2)], [1])
  const [bound] = boundsOf(sorted(-Number.MAX_VALUE, Number.MAX_VALUE), 2)
  assert.ok(bound! >= -Number.MAX_VALUE && bound! < Number.MAX_VALUE)
})

test('only the given rows count, and what is missing has no part in bounds', () => {
  const column = { name: 'x', kind: 'number', values: Float64Array.from([9, Number.NaN, 1, 3, 100]) } as const
  const learned = learnNumberBins(column, Uint32Array.from([1, 2, 3]), 255)
  assert.deepEqual({ ...learned, bounds: [...learned.bounds] }, { bounds: [2], minimum: 1, maximum: 3 })
})

test('the most frequent categories get bins, those of equal count in order of their codes', () => {
  const codes = Int32Array.from([2, 2, 0, 1, -1, 3, 3])
  const column = { name: 'x', kind: 'category', codes, categories: ['a', 'b', 'c', 'd', 'e'] } as const
  const rows = Uint32Array.from(codes.keys())
  assert.deepEqual(learnCategoryBins(column, rows, 3), [2, 3, 0])
})
