// Everything the threads of a tree training share: the binned table, gradients, lists of rows and histograms.
import type { GradientBoostedTreesConfiguration } from '../configuration.ts'
import type { Column } from '../data/table.ts'
import { DataProblem } from '../data-problem.ts'
import { makeTestRows, type TestRows } from '../round.ts'
import type { Split } from '../split.ts'
import { BINS, BLOCK, BLOCK_HISTOGRAM_BYTES, PAIR_BYTES } from './histogram-kernel.ts'
import { PAGES_MAX } from './wasm-code.ts'

const PAGE_BYTES = 65_536
const LINE_BYTES = 64
/** Rows whose losses are summed together; fixed, so that sums do not depend on the number of threads. */
export const CHUNK = 4096

/** A row's place is its number here: the training rows come first, in table order, then the test rows. */
export interface TreeSpace extends TestRows {
  configuration: GradientBoostedTreesConfiguration
  /** The table's columns, let go of once they are binned. */
  columns: Column[]
  rows: number
  trainRows: number
  features: number
  blocks: number
  /** Bytes from one row's bins to the next row's. */
  stride: number
  /** A place's row in the table. */
  tableRows: Uint32Array
  labels: Uint8Array
  scores: Float64Array
  memory: WebAssembly.Memory
  /** The bins twice: a row's bins together for summing, a feature's bins together for dividing rows. */
  rowBinsAt: number
  featureBinsAt: number
  pairsAt: number
  listAt: number
  movedAt: number
  /** Of a number column each bin's upper bound, of a category column each bin's category. */
  bounds: Float64Array
  /** How many bins hold values; the one after them holds what is missing. */
  binCounts: Int32Array
  ranges: Float64Array
  chunkLosses: Float64Array
  chunkHessians: Float64Array
  leafRanges: Int32Array
  leafHessians: Float64Array
  leafValues: Float64Array
  /** The bins that go left in the split being made, and each member's count of them. */
  leftBins: Uint8Array
  leftCounts: Int32Array
}

const shared = (bytes: number) => new SharedArrayBuffer(bytes)

export function makeTreeSpace(
  configuration: GradientBoostedTreesConfiguration,
  columns: Column[],
  labels: Uint8Array,
  { train, test }: Split,
  members: number,
): TreeSpace {
  const rows = train.length + test.length
  const features = columns.length
  const blocks = Math.ceil(features / BLOCK)
  const pairsAt = members * blocks * BLOCK_HISTOGRAM_BYTES
  const listAt = pairsAt + train.length * PAIR_BYTES
  const movedAt = listAt + rows * 4
  const rowBinsAt = Math.ceil((movedAt + rows * 4) / LINE_BYTES) * LINE_BYTES
  const stride = strideOf(blocks)
  const featureBinsAt = rowBinsAt + stride * rows
  const pages = Math.ceil((featureBinsAt + features * rows) / PAGE_BYTES)
  if (pages > PAGES_MAX) throw new DataProblem(`${rows} rows of ${features} features are too many to train on here.`)
  const tableRows = new Uint32Array(shared(rows * 4))
  tableRows.set(train)
  tableRows.set(test, train.length)
  const ordered = gathered(labels, tableRows)
  const chunks = Math.ceil(train.length / CHUNK) + Math.ceil(test.length / CHUNK)
  return {
    configuration,
    columns,
    rows,
    trainRows: train.length,
    features,
    blocks,
    stride,
    tableRows,
    labels: ordered,
    ...makeTestRows(ordered.subarray(train.length)),
    scores: new Float64Array(shared(rows * 8)),
    memory: new WebAssembly.Memory({ initial: pages, maximum: PAGES_MAX, shared: true }),
    rowBinsAt,
    featureBinsAt,
    pairsAt,
    listAt,
    movedAt,
    bounds: new Float64Array(shared(features * BINS * 8)),
    binCounts: new Int32Array(shared(features * 4)),
    ranges: new Float64Array(shared(features * 16)),
    chunkLosses: new Float64Array(shared(chunks * 8)),
    chunkHessians: new Float64Array(shared(chunks * 8)),
    leafRanges: new Int32Array(shared(configuration.leaves * 16)),
    leafHessians: new Float64Array(shared(configuration.leaves * 8)),
    leafValues: new Float64Array(shared(configuration.leaves * 8)),
    leftBins: new Uint8Array(shared(BINS)),
    leftCounts: new Int32Array(shared(members * 4)),
  }
}

function gathered(labels: Uint8Array, rows: Uint32Array): Uint8Array {
  const chosen = new Uint8Array(shared(rows.length))
  for (let place = 0; place < rows.length; place++) chosen[place] = labels[rows[place]!]!
  return chosen
}

/** Up to a cache line each row starts at a fraction of one, so that none lies across two. */
function strideOf(blocks: number): number {
  const bytes = blocks * BLOCK
  return bytes <= LINE_BYTES ? 2 ** Math.ceil(Math.log2(bytes)) : bytes
}
