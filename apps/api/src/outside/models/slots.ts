// A fixed number of places to work in, and a bounded queue in front of them.
import { Problem } from '../../base/problem.ts'

interface Waiting<T> {
  readonly give: (place: T) => void
}

export class Slots<T> {
  readonly #free: T[]
  readonly #queue = new Set<Waiting<T>>()
  readonly #waitingMax: number

  constructor(places: readonly T[], waitingMax: number) {
    this.#free = [...places]
    this.#waitingMax = waitingMax
  }

  /** Places are given in the order they were asked for. Who leaves the queue gives up the turn. */
  async take(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    const place = this.#free.pop()
    if (place !== undefined) return place
    if (this.#queue.size >= this.#waitingMax) {
      throw new Problem('upstream_rate_limited', 'Too many requests wait for the embedded model', {
        retryAfterSeconds: 5,
      })
    }
    return new Promise<T>((resolve, reject) => {
      const waiting = {
        give: (given: T) => {
          signal.removeEventListener('abort', leave)
          resolve(given)
        },
      }
      const leave = () => {
        this.#queue.delete(waiting)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#queue.add(waiting)
    })
  }

  giveBack(place: T): void {
    const [next] = this.#queue
    if (!next) {
      this.#free.push(place)
      return
    }
    this.#queue.delete(next)
    next.give(place)
  }
}
