// The inner loop of tree training: adds each row's gradient and hessian to the bins its features fall in.
// It is WebAssembly because one vector addition there does what takes six guarded array accesses in JavaScript,
// and in integers because their sums are exact: however rows are shared out, the result is the same to the last bit.
import {
  add,
  addPairs,
  and,
  below,
  type Code,
  constant,
  get,
  load32,
  loadPair,
  moduleOf,
  multiply,
  repeatWhile,
  set,
  shiftLeft,
  shiftRight,
  storePair,
} from './wasm-code.ts'

/** Features summed together: their histograms just fit the fastest cache. */
export const BLOCK = 8
export const BINS = 256
/** Two 64-bit integers: the gradients' sum, and the hessians' sum above the count of rows. */
export const PAIR_BYTES = 16
export const BLOCK_HISTOGRAM_BYTES = BLOCK * BINS * PAIR_BYTES

/**
 * All are addresses but `stride`, the bytes from one row's bins to the next: `bins` is where the block's bins of row 0
 * are, a byte a feature, `pairs` has a pair a row, `rows` to `rowsEnd` lists at least one row to add.
 */
export type HistogramKernel = (
  bins: number,
  stride: number,
  pairs: number,
  rows: number,
  rowsEnd: number,
  histogram: number,
) => void

const LOCAL = { bins: 0, stride: 1, pairs: 2, rows: 3, rowsEnd: 4, histogram: 5, row: 6, four: 7, place: 8, pair: 9 }

function addToBin(feature: number): Code {
  const shift = 8 * (feature % 4) - 4
  const four = get(LOCAL.four)
  const scaled = shift < 0 ? shiftLeft(and(four, BINS - 1), 4) : and(shiftRight(four, shift), (BINS - 1) << 4)
  const offset = feature * BINS * PAIR_BYTES
  const sum = addPairs(loadPair(get(LOCAL.place), offset), get(LOCAL.pair))
  return [...set(LOCAL.place, add(get(LOCAL.histogram), scaled)), ...storePair(get(LOCAL.place), offset, sum)]
}

// Four bins are fetched at once and taken apart by shifting.
const addFour = (first: number): Code => [
  ...set(LOCAL.four, load32(add(get(LOCAL.bins), multiply(get(LOCAL.row), get(LOCAL.stride))), first)),
  ...[0, 1, 2, 3].flatMap((next) => addToBin(first + next)),
]

const body = (width: 4 | 8): Code =>
  repeatWhile(below(get(LOCAL.rows), get(LOCAL.rowsEnd)), [
    ...set(LOCAL.row, load32(get(LOCAL.rows), 0)),
    ...set(LOCAL.pair, loadPair(add(get(LOCAL.pairs), shiftLeft(get(LOCAL.row), 4)), 0)),
    ...addFour(0),
    ...(width === 8 ? addFour(4) : []),
    ...set(LOCAL.rows, add(get(LOCAL.rows), constant(4))),
  ])

/** For whole blocks, or for a last one of which only the first half is in use. */
export function histogramKernel(memory: WebAssembly.Memory, width: 4 | 8): HistogramKernel {
  const { exports } = new WebAssembly.Instance(moduleOf(6, 3, 1, body(width)), { shared: { memory } })
  return exports['run'] as HistogramKernel
}
