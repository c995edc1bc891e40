// Divides a feature's values into at most 255 bins, so that a tree weighs bins instead of values.
import type { CategoryColumn, NumberColumn } from '../data/table.ts'
import { NO_CATEGORY } from '../data/table.ts'

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

const CELLS = 1024

/** Finds a value's bin quickly: an even grid over the bounds leaves few of them to look through. */
export class Shortcut {
  readonly #bounds: Float64Array
  readonly #first: number
  readonly #cellsPerUnit: number
  /** How many bounds lie before each cell's start. */
  readonly #before = new Uint8Array(CELLS + 2)

  constructor(bounds: Float64Array) {
    this.#bounds = bounds
    this.#first = bounds[0] ?? 0
    const width = (bounds[bounds.length - 1] ?? 0) - this.#first
    this.#cellsPerUnit = width > 0 && Number.isFinite(width) ? CELLS / width : 0
    for (const bound of bounds) this.#before[this.#cellOf(bound) + 1]!++
    for (let cell = 0; cell <= CELLS; cell++) this.#before[cell + 1]! += this.#before[cell]!
  }

  #cellOf(value: number): number {
    return Math.floor(Math.min(CELLS, Math.max(0, (value - this.#first) * this.#cellsPerUnit)))
  }

  /** The number of bounds below the value. */
  binOf(value: number): number {
    const cell = this.#cellOf(value)
    let low = this.#before[cell]!
    let high = this.#before[cell + 1]!
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#bounds[middle]! < value) low = middle + 1
      else high = middle
    }
    return low
  }
}
