// The few WebAssembly instructions the histogram kernel is made of, written as functions that give their bytes.
export type Code = readonly number[]

const unsigned = (value: number): number[] => {
  const rest = Math.floor(value / 128)
  return rest === 0 ? [value] : [(value % 128) | 128, ...unsigned(rest)]
}
const signed = (value: number): number[] => {
  const low = value & 127
  const rest = value >> 7
  const done = (rest === 0 && low < 64) || (rest === -1 && low >= 64)
  return done ? [low] : [low | 128, ...signed(rest)]
}

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)]
export const constant = (value: number): Code => [0x41, ...signed(value)]
export const add = (one: Code, other: Code): Code => [...one, ...other, 0x6a]
export const multiply = (one: Code, other: Code): Code => [...one, ...other, 0x6c]
export const and = (one: Code, mask: number): Code => [...one, ...constant(mask), 0x71]
export const shiftLeft = (one: Code, bits: number): Code => [...one, ...constant(bits), 0x74]
export const shiftRight = (one: Code, bits: number): Code => [...one, ...constant(bits), 0x76]
export const below = (one: Code, other: Code): Code => [...one, ...other, 0x49]
export const load32 = (address: Code, offset: number): Code => [...address, 0x28, 2, ...unsigned(offset)]
export const loadPair = (address: Code, offset: number): Code => [...address, 0xfd, 0x00, 4, ...unsigned(offset)]
export const storePair = (address: Code, offset: number, value: Code): Code => [
  ...[...address, ...value],
  ...[0xfd, 0x0b, 4, ...unsigned(offset)],
]
/** Adds two pairs of 64-bit integers, lane by lane. */
export const addPairs = (one: Code, other: Code): Code => [...one, ...other, 0xfd, 0xce, 0x01]
export const repeatWhile = (condition: Code, body: Code): Code => [0x03, 0x40, ...body, ...condition, 0x0d, 0x00, 0x0b]

const I32 = 0x7f
const PAIR = 0x7b
const FUNCTION = 0x60
const text = (word: string): number[] => [...unsigned(word.length), ...Buffer.from(word)]
const section = (id: number, content: number[]): number[] => [id, ...unsigned(content.length), ...content]

export const PAGES_MAX = 65_536

/** A module with one function over an imported shared memory; all parameters are 32-bit integers. */
export function moduleOf(parameters: number, integers: number, pairs: number, body: Code): WebAssembly.Module {
  const signature = [FUNCTION, ...unsigned(parameters), ...Array<number>(parameters).fill(I32), 0]
  const sharedMemory = [0x02, 0x03, 1, ...unsigned(PAGES_MAX)]
  const code = [2, integers, I32, pairs, PAIR, ...body, 0x0b]
  return new WebAssembly.Module(
    Uint8Array.from([
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...section(1, [1, ...signature]),
      ...section(2, [1, ...text('shared'), ...text('memory'), ...sharedMemory]),
      ...section(3, [1, 0]),
      ...section(7, [1, ...text('run'), 0, 0]),
      ...section(10, [1, ...unsigned(code.length), ...code]),
    ]),
  )
}
