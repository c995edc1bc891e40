// The two loops most of a logistic regression's time goes into: rows times weights, and errors times rows.
// They take four rows at once, which keeps a weight at hand for all four and lets their sums run side by side.
import type { LinearSpace } from './linear-space.ts'

/** Leaves the score of each row from one place to another in `scores`, starting at its beginning. */
export function scoreRows(space: LinearSpace, from: number, to: number, scores: Float64Array): void {
  const { dense, width, weights, slots, slotted } = space
  const intercept = weights[weights.length - 1]!
  let place = from
  for (; place + 4 <= to; place += 4) {
    const first = place * width
    const second = first + width
    const third = second + width
    const fourth = third + width
    let one = intercept
    let two = intercept
    let three = intercept
    let four = intercept
    for (let at = 0; at < width; at++) {
      const weight = weights[at]!
      one += weight * dense[first + at]!
      two += weight * dense[second + at]!
      three += weight * dense[third + at]!
      four += weight * dense[fourth + at]!
    }
    scores[place - from] = one
    scores[place - from + 1] = two
    scores[place - from + 2] = three
    scores[place - from + 3] = four
  }
  for (; place < to; place++) {
    let score = intercept
    for (let at = 0; at < width; at++) score += weights[at]! * dense[place * width + at]!
    scores[place - from] = score
  }
  for (let at = from * slotted; at < to * slotted; at++) {
    scores[Math.floor(at / slotted) - from]! += weights[slots[at]!]!
  }
}

/** Adds to `sums`, one for each weight, what the rows' errors ask of it. */
export function addErrors(
  space: LinearSpace,
  from: number,
  to: number,
  errors: Float64Array,
  sums: Float64Array,
): void {
  const { dense, width, slots, slotted } = space
  let place = from
  for (; place + 4 <= to; place += 4) {
    const first = place * width
    const second = first + width
    const third = second + width
    const fourth = third + width
    const one = errors[place - from]!
    const two = errors[place - from + 1]!
    const three = errors[place - from + 2]!
    const four = errors[place - from + 3]!
    for (let at = 0; at < width; at++) {
      sums[at]! +=
        one * dense[first + at]! + two * dense[second + at]! + three * dense[third + at]! + four * dense[fourth + at]!
    }
  }
  for (; place < to; place++) {
    for (let at = 0; at < width; at++) sums[at]! += errors[place - from]! * dense[place * width + at]!
  }
  for (let at = from * slotted; at < to * slotted; at++) sums[slots[at]!]! += errors[Math.floor(at / slotted) - from]!
  for (let at = 0; at < to - from; at++) sums[sums.length - 1]! += errors[at]!
}
