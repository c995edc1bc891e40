// Finds the bin of a number quickly: an even grid over the bounds leaves few of them to look through.
const CELLS = 1024

export class BinFinder {
  readonly #bounds: Float64Array
  readonly #first: number
  readonly #cellsPerUnit: number
  /** How many bounds lie before each cell's start. */
  readonly #before = new Uint8Array(CELLS + 2)

  constructor(bounds: Float64Array) {
    this.#bounds = bounds
    this.#first = bounds[0] ?? 0
    const width = (bounds[bounds.length - 1] ?? 0) - this.#first
    // Bounds too close or too far apart for a grid all fall into its first cell.
    this.#cellsPerUnit = Number.isFinite(CELLS / width) ? CELLS / width : 0
    for (const bound of bounds) this.#before[this.#cellOf(bound) + 1]!++
    for (let cell = 0; cell <= CELLS; cell++) this.#before[cell + 1]! += this.#before[cell]!
  }

  #cellOf(value: number): number {
    const cell = (value - this.#first) * this.#cellsPerUnit
    return cell > 0 ? Math.min(CELLS, Math.floor(cell)) : 0
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
