// Finds the division of a leaf's rows that lowers the loss most, from the sums of its bins.

/** Gradient, hessian and count of some rows. */
export interface Sums {
  gradient: number
  hessian: number
  count: number
}

export interface Choice {
  feature: number
  gain: number
  left: Sums
  /** The bins whose rows go left; of a number feature the first ones, so `bin` is the last of them. */
  kind: 'number' | 'category'
  bin: number
  bins: readonly number[]
  missingLeft: boolean
}

/** Where a feature's bins lie in a histogram of three numbers a bin, the missing rows' bin last. */
export interface FeatureBins {
  kind: 'number' | 'category'
  start: number
  count: number
}

/** A side or leaf with less is too certain already for its value to mean anything. */
export const HESSIAN_MIN = 1e-3
const GAIN_MIN = 1e-10
// Categories are many and rare, so their splits must earn more before they are believed.
const CATEGORY_L2 = 10
const CATEGORY_ROWS_MIN = 10
const CATEGORIES_LEFT_MAX = 32
const CATEGORIES_ALONE_MAX = 4

export function bestSplit(
  histogram: Float64Array,
  features: readonly FeatureBins[],
  total: Sums,
  rowsMin: number,
): Choice | undefined {
  let best: Choice | undefined
  features.forEach((bins, feature) => {
    const search = bins.kind === 'number' ? bestThreshold : bestSubset
    best = search(histogram, feature, bins, total, rowsMin, best)
  })
  return best
}

const weight = (gradient: number, hessian: number) => (gradient * gradient) / hessian

function bestThreshold(
  histogram: Float64Array,
  feature: number,
  { start, count }: FeatureBins,
  total: Sums,
  rowsMin: number,
  before: Choice | undefined,
): Choice | undefined {
  const missing = sumsAt(histogram, start + count)
  const whole = weight(total.gradient, total.hessian)
  let gain = before?.gain ?? GAIN_MIN
  let best: { bin: number; side: number; left: Sums } | undefined
  let gradient = 0
  let hessian = 0
  let rows = 0
  // With missing rows the last bin is a border too: everything known to the left, the missing to the right.
  const last = missing.count > 0 ? count : count - 1
  for (let bin = 0; bin < last; bin++) {
    const at = (start + bin) * 3
    if (histogram[at + 2] === 0) continue
    gradient += histogram[at]!
    hessian += histogram[at + 1]!
    rows += histogram[at + 2]!
    const sides = missing.count > 0 && bin < count - 1 ? 2 : 1
    for (let side = 0; side < sides; side++) {
      const leftGradient = gradient + side * missing.gradient
      const leftHessian = hessian + side * missing.hessian
      const leftRows = rows + side * missing.count
      const rightHessian = total.hessian - leftHessian
      if (leftRows < rowsMin || total.count - leftRows < rowsMin) continue
      if (leftHessian < HESSIAN_MIN || rightHessian < HESSIAN_MIN) continue
      const right = weight(total.gradient - leftGradient, rightHessian)
      const gained = weight(leftGradient, leftHessian) + right - whole
      if (gained <= gain) continue
      gain = gained
      best = { bin, side, left: { gradient: leftGradient, hessian: leftHessian, count: leftRows } }
    }
  }
  if (!best) return before
  const { bin, side, left } = best
  // A model may meet missing values where training had none: those follow the larger part.
  const missingLeft = missing.count > 0 ? side === 1 : left.count * 2 >= total.count
  return { feature, gain, left, kind: 'number', bin, bins: [], missingLeft }
}

const sumsAt = (histogram: Float64Array, bin: number): Sums => ({
  gradient: histogram[bin * 3]!,
  hessian: histogram[bin * 3 + 1]!,
  count: histogram[bin * 3 + 2]!,
})

/** Categories in order of their mean gradient: the best subset is a run from one of the two ends. */
function bestSubset(
  histogram: Float64Array,
  feature: number,
  { start, count }: FeatureBins,
  total: Sums,
  rowsMin: number,
  before: Choice | undefined,
): Choice | undefined {
  const isFew = count <= CATEGORIES_ALONE_MAX
  const l2 = isFew ? 0 : CATEGORY_L2
  const whole = weight(total.gradient, total.hessian)
  let best = before
  for (const run of runsOf(histogram, start, count, isFew)) {
    const left = { gradient: 0, hessian: 0, count: 0 }
    for (const [at, bin] of run.entries()) {
      const sums = sumsAt(histogram, start + bin)
      left.gradient += sums.gradient
      left.hessian += sums.hessian
      left.count += sums.count
      const rightHessian = total.hessian - left.hessian
      if (left.count < rowsMin || total.count - left.count < rowsMin) continue
      if (left.hessian < HESSIAN_MIN || rightHessian < HESSIAN_MIN) continue
      const right = weight(total.gradient - left.gradient, rightHessian + l2)
      const gain = weight(left.gradient, left.hessian + l2) + right - whole
      if (gain <= (best?.gain ?? GAIN_MIN)) continue
      const bins = run.slice(0, at + 1)
      best = { feature, gain, left: { ...left }, kind: 'category', bin: 0, bins, missingLeft: false }
    }
  }
  return best
}

/** Of few categories each by itself; of many the lowest and the highest by mean gradient, leaving out the rarest. */
function runsOf(histogram: Float64Array, start: number, count: number, isFew: boolean): number[][] {
  const bins = Array.from({ length: count }, (_, bin) => bin)
  if (isFew) return bins.map((bin) => [bin])
  const mean = (bin: number) => histogram[(start + bin) * 3]! / (histogram[(start + bin) * 3 + 1]! + CATEGORY_L2)
  const ascending = bins
    .filter((bin) => histogram[(start + bin) * 3 + 2]! >= CATEGORY_ROWS_MIN)
    .sort((one, other) => mean(one) - mean(other) || one - other)
  return [ascending.slice(0, CATEGORIES_LEFT_MAX), ascending.toReversed().slice(0, CATEGORIES_LEFT_MAX)]
}
