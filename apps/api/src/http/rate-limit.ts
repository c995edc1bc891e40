// Buckets that refill with time: a burst is fine, a flood is not (contract 8).
import { Problem } from '../base/problem.ts'

interface Bucket {
  level: number
  at: number
}

const SWEEP_ABOVE = 50_000

export class RateLimit {
  readonly #perSecond: number
  readonly #capacity: number
  readonly #what: string
  readonly #buckets = new Map<string, Bucket>()
  onTake: ((key: string) => void) | undefined

  /** `burst` says how many seconds' worth may come at once; a rate of 0 switches the limit off. */
  constructor(what: string, perSecond: number, burst = 5) {
    this.#what = what
    this.#perSecond = perSecond
    this.#capacity = Math.max(1, perSecond * burst)
  }

  take(key: string, nowMs = performance.now()): void {
    if (this.#perSecond === 0) return
    const bucket = this.#filled(key, nowMs)
    if (bucket.level < 1) {
      const retryAfterSeconds = Math.ceil((1 - bucket.level) / this.#perSecond)
      throw new Problem('rate_limited', `Too many requests ${this.#what}: try again later`, { retryAfterSeconds })
    }
    bucket.level -= 1
    this.onTake?.(key)
  }

  /** Takes what was let in elsewhere; there may be less than nothing left then. */
  charge(key: string, count: number, nowMs = performance.now()): void {
    if (this.#perSecond > 0) this.#filled(key, nowMs).level -= count
  }

  #filled(key: string, nowMs: number): Bucket {
    const bucket = this.#buckets.get(key) ?? this.#open(key, nowMs)
    bucket.level = Math.min(this.#capacity, bucket.level + ((nowMs - bucket.at) / 1000) * this.#perSecond)
    bucket.at = nowMs
    return bucket
  }

  #open(key: string, nowMs: number): Bucket {
    if (this.#buckets.size >= SWEEP_ABOVE) this.#sweep(nowMs)
    const bucket = { level: this.#capacity, at: nowMs }
    this.#buckets.set(key, bucket)
    return bucket
  }

  /** A bucket that is full again says nothing that a new one would not. */
  #sweep(nowMs: number): void {
    const fullAfterMs = (this.#capacity / this.#perSecond) * 1000
    for (const [key, { at }] of this.#buckets) if (nowMs - at > fullAfterMs) this.#buckets.delete(key)
  }
}
