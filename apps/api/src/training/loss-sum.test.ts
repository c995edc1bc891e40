// The sum by products against the sum of single logarithms.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LossSum } from './loss-sum.ts'
import { rowLoss } from './metrics.ts'
import { seededRandom } from './random.ts'

test('losses summed as products equal the sum of single losses, extreme probabilities included', () => {
  const random = seededRandom(6)
  const given = Array.from({ length: 1000 }, (_, row) => (row % 50 === 0 ? Math.round(random()) : random()))
  const sum = new LossSum()
  for (const probability of given) sum.add(probability)
  const wanted = given.reduce((total, probability) => total + rowLoss(1, probability), 0)
  assert.ok(Math.abs(sum.total() / wanted - 1) < 1e-14)
})
