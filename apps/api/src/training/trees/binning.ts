// Divides a feature's values into at most 255 bins, so that a tree weighs bins instead of values.
import { type CategoryColumn, NO_CATEGORY, type NumberColumn } from '../data/table.ts'

/** Bounds are learned from at most this many rows, evenly spaced; more would not move them much. */
const SAMPLE_MAX = 65_536

export interface NumberBins {
  /** Upper bounds of all bins but the last: a value belongs to the first bin whose bound it does not exceed. */
  bounds: Float64Array
  minimum: number
  maximum: number
}

export function learnNumberBins({ values }: NumberColumn, rows: Uint32Array, binsMax: number): NumberBins {
  const stride = Math.max(1, Math.floor(rows.length / SAMPLE_MAX))
  const sample = new Float64Array(Math.ceil(rows.length / stride))
  let sampled = 0
  let minimum = Infinity
  let maximum = -Infinity
  for (let at = 0; at < rows.length; at++) {
    const value = values[rows[at]!]!
    if (value < minimum) minimum = value
    if (value > maximum) maximum = value
    if (at % stride === 0 && !Number.isNaN(value)) sample[sampled++] = value
  }
  return { bounds: boundsOf(sample.subarray(0, sampled).sort(), binsMax), minimum, maximum }
}

/** Few distinct values get a bin each; many are divided evenly, and a value that alone would fill a bin has its own. */
export function boundsOf(sorted: Float64Array, binsMax: number): Float64Array {
  const starts: number[] = []
  for (let at = 0; at < sorted.length; at++) if (at === 0 || sorted[at] !== sorted[at - 1]) starts.push(at)
  const countOf = (distinct: number) => (starts[distinct + 1] ?? sorted.length) - starts[distinct]!
  const large = sorted.length / binsMax
  const bounds: number[] = []
  let binStart = 0
  for (let distinct = 0; distinct + 1 < starts.length && bounds.length + 1 < binsMax; distinct++) {
    const end = starts[distinct + 1]!
    const isFull = end - binStart >= (sorted.length - binStart) / (binsMax - bounds.length)
    const isApart = countOf(distinct) >= large || countOf(distinct + 1) >= large
    if (starts.length > binsMax && !isFull && !isApart) continue
    bounds.push(between(sorted[end - 1]!, sorted[end]!))
    binStart = end
  }
  return Float64Array.from(bounds)
}

// Halving the sum could overflow, and rounding may reach the upper value, which belongs to the next bin.
function between(value: number, next: number): number {
  const middle = value + (next - value) / 2
  return middle < next && Number.isFinite(middle) ? middle : value
}

/** The most frequent categories of the training rows, one bin each; all others share the bin of the missing. */
export function learnCategoryBins({ codes, categories }: CategoryColumn, rows: Uint32Array, binsMax: number): number[] {
  const counts = new Uint32Array(categories.length)
  for (const row of rows) {
    const code = codes[row]!
    if (code !== NO_CATEGORY) counts[code]!++
  }
  return [...counts.keys()]
    .filter((code) => counts[code]! > 0)
    .sort((one, other) => counts[other]! - counts[one]! || one - other)
    .slice(0, binsMax)
}
