// Divides rows into those a model learns from and those it is tested on, the same way for the same seed.
import { DataProblem } from './data-problem.ts'
import { seededRandom } from './random.ts'

/** The label of a row whose target is missing; such rows take no part. */
export const NO_LABEL = 255

export interface Split {
  train: Uint32Array
  test: Uint32Array
}

/** Each class is divided in the same proportion, and each keeps at least one row on both sides. */
export function splitRows(labels: Uint8Array, testFraction: number, seed: number): Split {
  const left = [0, 0]
  for (const label of labels) if (label !== NO_LABEL) left[label]!++
  if (left[0]! < 2 || left[1]! < 2) {
    throw new DataProblem('Training needs at least two rows of each class of the target.')
  }
  const wanted = left.map((count) => Math.min(count - 1, Math.max(1, Math.round(count * testFraction))))
  const test = new Uint32Array(wanted[0]! + wanted[1]!)
  const train = new Uint32Array(left[0]! + left[1]! - test.length)
  const random = seededRandom(seed)
  let tested = 0
  let trained = 0
  // Taking each row with probability wanted / left fills every class's quota exactly in one pass.
  labels.forEach((label, row) => {
    if (label === NO_LABEL) return
    if (random() * left[label]! < wanted[label]!) {
      test[tested++] = row
      wanted[label]!--
    } else train[trained++] = row
    left[label]!--
  })
  return { train, test }
}
