// Bounds how many long works go on at a time for one key, so that nobody takes up all there is; one more is turned away.
import { Problem } from './problem.ts'

export class BusyLimit {
  readonly #what: string
  readonly #max: number
  readonly #busy = new Map<string, number>()

  constructor(what: string, max: number) {
    this.#what = what
    this.#max = max
  }

  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    const busy = this.#busy.get(key) ?? 0
    if (busy >= this.#max) {
      const message = `${busy} ${this.#what} are at work already: try again when one is done`
      throw new Problem('rate_limited', message, { retryAfterSeconds: 5 })
    }
    this.#busy.set(key, busy + 1)
    try {
      return await work()
    } finally {
      const left = this.#busy.get(key)! - 1
      if (left > 0) this.#busy.set(key, left)
      else this.#busy.delete(key)
    }
  }
}
