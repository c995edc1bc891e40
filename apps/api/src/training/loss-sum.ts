// Sums log losses with one logarithm for many rows: the logarithm of a product is the sum of logarithms.

/** The smallest probability that counts is 2^-52, so this many together stay far above the smallest number. */
const TOGETHER = 16

export class LossSum {
  #sum = 0
  #product = 1
  #multiplied = 0

  /** Takes the probability that was given to the row's true label. */
  add(probability: number): void {
    this.#product *= Math.min(Math.max(probability, Number.EPSILON), 1 - Number.EPSILON)
    if (++this.#multiplied === TOGETHER) this.#close()
  }

  total(): number {
    this.#close()
    return this.#sum
  }

  #close(): void {
    this.#sum -= Math.log(this.#product)
    this.#product = 1
    this.#multiplied = 0
  }
}
