// The grid against counting bounds one by one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../random.ts'
import { BinFinder } from './bin-finder.ts'

const random = seededRandom(8)
const shapes: Record<string, () => number> = {
  'evenly spread': random,
  'over many orders of magnitude': () => 10 ** (random() * 300 - 150),
  'on both sides of zero': () => (random() - 0.5) ** 5,
  'at the ends of what numbers can be': () => (random() < 0.5 ? -1 : 1) * Number.MAX_VALUE * random(),
}

for (const [name, draw] of Object.entries(shapes)) {
  test(`a value's bin is the number of bounds below it: ${name}`, () => {
    const bounds = Float64Array.from({ length: 254 }, draw).sort()
    const finder = new BinFinder(bounds)
    for (const value of [...bounds, ...Array.from({ length: 500 }, draw), -Number.MAX_VALUE, Number.MAX_VALUE, 0]) {
      assert.equal(finder.binOf(value), bounds.filter((bound) => bound < value).length)
    }
  })
}

test('without bounds there is one bin', () => assert.equal(new BinFinder(new Float64Array(0)).binOf(5), 0))
