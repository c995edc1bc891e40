// Identifiers are UUIDv7: ordered by time, so a list's cursor is a plain comparison on the primary key.
import { randomFillSync } from 'node:crypto'

/** Where the parts of an id stand in its text, tttttttt-tttt-7ccc-vrrr-rrrrrrrrrrrr. */
const TIME = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12]
const COUNTER = [15, 16, 17]
const RANDOM = [20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35]
const VARIANT = 19
const DIGITS = Buffer.from('0123456789abcdef')

/** Every id is written over the one before it: of most, only the counter and the random part differ. */
const text = Buffer.from('00000000-0000-7000-8000-000000000000')
const pool = new Uint8Array(4096)
let used = pool.length
let lastMs = 0
let counter = 0

/** Strictly increasing within a process: rows made in one millisecond still list in the order they were made. */
export function newId(nowMs = Date.now()): string {
  if (used + RANDOM.length + 3 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  if (nowMs > lastMs) {
    writeTime(nowMs)
    counter = ((pool[used++]! << 8) | pool[used++]!) & 0x7ff
  } else if (++counter > 0xfff) {
    writeTime(lastMs + 1)
    counter = 0
  }
  text[COUNTER[0]!] = DIGITS[counter >> 8]!
  text[COUNTER[1]!] = DIGITS[(counter >> 4) & 0xf]!
  text[COUNTER[2]!] = DIGITS[counter & 0xf]!
  text[VARIANT] = DIGITS[0x8 | (pool[used++]! & 0x3)]!
  for (let i = 0; i < RANDOM.length; i++) text[RANDOM[i]!] = DIGITS[pool[used++]! & 0xf]!
  return text.toString('latin1')
}

function writeTime(ms: number): void {
  lastMs = ms
  for (let i = TIME.length - 1, rest = ms; i >= 0; i--, rest = Math.floor(rest / 16))
    text[TIME[i]!] = DIGITS[rest % 16]!
}

const SHAPE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export const isId = (text: string): boolean => SHAPE.test(text)

/** When an id was made, in milliseconds since 1970. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
