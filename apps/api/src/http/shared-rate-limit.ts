// One rate limit for the processes that serve an address together: each tells the others, many times a second, what it let in.
import type { Siblings } from '../processes/siblings.ts'
import type { RateLimit } from './rate-limit.ts'

/** What comes within it in several processes may exceed the limit by as much. */
const TELL_EVERY_MS = 100

export function shareRateLimit(topic: string, limit: RateLimit, siblings: Siblings): void {
  if (siblings.count === 1) return
  siblings.hear(topic, (taken: ReadonlyMap<string, number>) => {
    for (const [key, count] of taken) limit.charge(key, count)
  })
  let taken = new Map<string, number>()
  limit.onTake = (key) => taken.set(key, (taken.get(key) ?? 0) + 1)
  setInterval(() => {
    if (taken.size === 0) return
    siblings.tell(topic, taken)
    taken = new Map()
  }, TELL_EVERY_MS).unref()
}
