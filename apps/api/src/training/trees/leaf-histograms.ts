// Gives a leaf's histogram: for every bin of every feature the gradient, the hessian and the count of its rows.
import { addBin, gradientScale } from './gradients.ts'
import { BINS, BLOCK_HISTOGRAM_BYTES } from './histogram-kernel.ts'
import type { FeatureBins, Sums } from './split-search.ts'
import type { TreeCrew } from './tree-crew.ts'
import type { TreeSpace } from './tree-space.ts'

export class LeafHistograms {
  readonly features: readonly FeatureBins[]
  readonly #space: TreeSpace
  readonly #crew: TreeCrew
  readonly #length: number
  readonly #spare: Float64Array[] = []

  constructor(space: TreeSpace, crew: TreeCrew, kinds: readonly FeatureBins['kind'][]) {
    this.#space = space
    this.#crew = crew
    let start = 0
    this.features = kinds.map((kind, feature) => {
      const bins = { kind, start, count: space.binCounts[feature]! }
      start += bins.count + 1
      return bins
    })
    this.#length = start * 3
  }

  /** Sums the rows from one position of the list to another. */
  sum(start: number, end: number, hessianScale: number): Float64Array {
    const members = this.#crew.run('sumBins', start, end)
    const histogram = this.#spare.pop()?.fill(0) ?? new Float64Array(this.#length)
    const bytes = this.#space.blocks * BLOCK_HISTOGRAM_BYTES
    for (let member = 0; member < members; member++) {
      const part = new Int32Array(this.#space.memory.buffer, member * bytes, bytes / 4)
      this.features.forEach(({ start: first, count }, feature) => {
        for (let bin = 0; bin <= count; bin++) addBin(part, feature * BINS + bin, histogram, (first + bin) * 3)
      })
    }
    const perGradient = 1 / gradientScale(this.#space.trainRows)
    for (let at = 0; at < histogram.length; at += 3) {
      histogram[at]! *= perGradient
      histogram[at + 1]! /= hessianScale
    }
    return histogram
  }

  /** Every row is in one bin of the first feature, so its bins add up to the whole. */
  totalOf(histogram: Float64Array): Sums {
    const total = { gradient: 0, hessian: 0, count: 0 }
    for (let bin = 0; bin <= this.features[0]!.count; bin++) {
      total.gradient += histogram[bin * 3]!
      total.hessian += histogram[bin * 3 + 1]!
      total.count += histogram[bin * 3 + 2]!
    }
    return total
  }

  /** Takes back a histogram that is no longer needed, to be used again. */
  release(histogram: Float64Array | undefined): void {
    if (histogram) this.#spare.push(histogram)
  }
}
