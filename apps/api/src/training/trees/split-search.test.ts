// The chosen split against every possible one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../random.ts'
import { bestSplit, type FeatureBins, type Sums } from './split-search.ts'

/** One feature's histogram from [gradient, hessian, count] of each bin, the missing rows' bin last. */
function search(kind: FeatureBins['kind'], bins: [number, number, number][], rowsMin: number) {
  const sum = (at: 0 | 1 | 2) => bins.reduce((total, bin) => total + bin[at], 0)
  const total: Sums = { gradient: sum(0), hessian: sum(1), count: sum(2) }
  const features: FeatureBins[] = [{ kind, start: 0, count: bins.length - 1 }]
  return bestSplit(Float64Array.from(bins.flat()), features, total, rowsMin)
}

const gainOf = (sides: [number, number][]) => {
  const [left, right] = sides as [[number, number], [number, number]]
  const weight = ([gradient, hessian]: [number, number]) => (gradient * gradient) / hessian
  return weight(left) + weight(right) - weight([left[0] + right[0], left[1] + right[1]])
}

test('no border of a number feature gains more than the chosen one, with the missing rows on either side', () => {
  const random = seededRandom(9)
  for (let round = 0; round < 200; round++) {
    const bins = Array.from({ length: 7 }, (): [number, number, number] => {
      const count = Math.floor(random() * 20)
      return [count * (random() - 0.5), count * (0.1 + random() * 0.1), count]
    })
    const missing = bins.at(-1)!
    let most = 0
    for (let border = 0; border < 6; border++) {
      for (const withMissing of [0, 1]) {
        const left = [0, 1, 2].map((at) => {
          const known = bins.slice(0, border + 1).reduce((sum, bin) => sum + bin[at]!, 0)
          return known + withMissing * missing[at]!
        })
        const right = [0, 1, 2].map((at) => bins.reduce((sum, bin) => sum + bin[at]!, 0) - left[at]!)
        if (left[2]! < 5 || right[2]! < 5) continue
        most = Math.max(
          most,
          gainOf([
            [left[0]!, left[1]!],
            [right[0]!, right[1]!],
          ]),
        )
      }
    }
    const chosen = search('number', bins, 5)
    assert.ok(Math.abs((chosen?.gain ?? 0) - most) < 1e-9)
    if (chosen) assert.ok(chosen.left.count >= 5)
  }
})

test('missing rows that resemble one side are sent there', () => {
  const low: [number, number, number] = [-8, 4, 20]
  const high: [number, number, number] = [8, 4, 20]
  assert.equal(search('number', [low, high, [-4, 2, 10]], 1)!.missingLeft, true)
  assert.equal(search('number', [low, high, [4, 2, 10]], 1)!.missingLeft, false)
})

test('missing rows that resemble neither side are split off alone', () => {
  const chosen = search(
    'number',
    [
      [-4, 4, 20],
      [-4, 4, 20],
      [16, 4, 20],
    ],
    1,
  )!
  assert.deepEqual([chosen.bin, chosen.missingLeft, chosen.left.count], [1, false, 40])
})

test('without missing rows in training they would follow the larger part', () => {
  assert.equal(
    search(
      'number',
      [
        [-8, 4, 30],
        [8, 4, 20],
        [0, 0, 0],
      ],
      1,
    )!.missingLeft,
    true,
  )
  assert.equal(
    search(
      'number',
      [
        [-8, 4, 20],
        [8, 4, 30],
        [0, 0, 0],
      ],
      1,
    )!.missingLeft,
    false,
  )
})

test('few categories are told apart one at a time, many as a group of similar ones', () => {
  const plain: [number, number, number] = [1, 5, 20]
  const odd: [number, number, number] = [-12, 5, 20]
  assert.deepEqual(search('category', [plain, odd, plain, [0, 0, 0]], 1)!.bins, [1])
  const many = Array.from({ length: 8 }, (_, bin) => (bin % 3 === 1 ? odd : plain))
  assert.deepEqual([...search('category', [...many, [0, 0, 0]], 1)!.bins].sort(), [1, 4, 7])
})

test('a leaf is not split when either side would be too small or nothing would be gained', () => {
  assert.equal(
    search(
      'number',
      [
        [-8, 4, 4],
        [8, 4, 40],
        [0, 0, 0],
      ],
      5,
    ),
    undefined,
  )
  assert.equal(
    search(
      'number',
      [
        [2, 4, 20],
        [2, 4, 20],
        [0, 0, 0],
      ],
      5,
    ),
    undefined,
  )
})
