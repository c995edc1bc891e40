// The nearly linear sort against the plain one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from './random.ts'
import { sortedScores } from './sort-scores.ts'

const random = seededRandom(11)
const shapes: Record<string, () => number> = {
  'evenly spread': random,
  'crowded near zero': () => random() ** 40,
  'few distinct values': () => Math.round(random() * 3) / 3,
  'only the two ends': () => Math.round(random()),
}

for (const [name, draw] of Object.entries(shapes)) {
  test(`scores of each label come out in ascending order: ${name}`, () => {
    const labels = Uint8Array.from({ length: 5000 }, () => Math.round(random()))
    const scores = Float64Array.from({ length: 5000 }, draw)
    for (const label of [0, 1]) {
      const wanted = scores.filter((_, row) => labels[row] === label).sort()
      assert.deepEqual(sortedScores(labels, scores, label), wanted)
    }
  })
}
