// Identifiers are UUIDv7: ordered by time, so a list's cursor is a plain comparison on the primary key.
import { randomFillSync } from 'node:crypto'

const pool = new Uint8Array(4096)
let used = pool.length
let lastMs = 0
let counter = 0

/** Strictly increasing within a process: rows made in one millisecond still list in the order they were made. */
export function newId(nowMs = Date.now()): string {
  if (used + 10 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + 10)
  used += 10
  if (nowMs > lastMs) {
    lastMs = nowMs
    counter = ((random[0]! << 8) | random[1]!) & 0x7ff
  } else if (++counter > 0xfff) {
    lastMs++
    counter = 0
  }
  const time = lastMs.toString(16).padStart(12, '0')
  const sequence = (0x7000 | counter).toString(16)
  const variant = (0x80 | (random[2]! & 0x3f)).toString(16)
  const rest = Buffer.from(random.subarray(3)).toString('hex')
  return `${time.slice(0, 8)}-${time.slice(8)}-${sequence}-${variant}${rest.slice(0, 2)}-${rest.slice(2)}`
}

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const isId = (text: string): boolean => SHAPE.test(text)

/** When an id was made, in milliseconds since 1970. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
