// Everything the threads of a logistic regression share: standardised rows, weights and sums.
import type { LogisticRegressionConfiguration } from '../configuration.ts'
import type { CategoryColumn, Column, NumberColumn } from '../data/table.ts'
import { DataProblem } from '../data-problem.ts'
import { seededRandom, shuffle } from '../random.ts'
import { makeTestRows, type TestRows } from '../round.ts'
import type { Split } from '../split.ts'

/** Rows scored together; fixed, so that sums do not depend on the number of threads. */
export const CHUNK = 4096
/** Parts a batch is always divided into, however many threads there are. */
export const PARTS = 32
const BATCH_MAX = 16_384
const BATCH_MIN = 32
const BATCHES_WANTED = 64

/** Weights in order: numbers, marks of missing numbers, categories with one for the missing each, the intercept. */
export interface LinearSpace extends TestRows {
  configuration: LogisticRegressionConfiguration
  /** The table's columns, let go of once they are standardised. */
  numbers: NumberColumn[]
  categories: CategoryColumn[]
  rows: number
  trainRows: number
  batch: number
  /** A place's row in the table: the training rows, shuffled, then the test rows. */
  tableRows: Uint32Array
  labels: Uint8Array
  /** The number columns that have missing values, each with a mark of its own. */
  marked: number[]
  means: Float64Array
  scales: Float64Array
  /** Row by row the standardised numbers and the marks of missing ones, and how many these are. */
  dense: Float32Array
  width: number
  /** Row by row the weights of its categories, and how many these are. */
  slots: Int32Array
  slotted: number
  firstSlots: number[]
  weights: Float64Array
  partSums: Float64Array
  chunkLosses: Float64Array
}

const shared = (bytes: number) => new SharedArrayBuffer(bytes)

export function makeLinearSpace(
  configuration: LogisticRegressionConfiguration,
  columns: readonly Column[],
  labels: Uint8Array,
  { train, test }: Split,
): LinearSpace {
  const numbers = columns.filter((column) => column.kind === 'number')
  const categories = columns.filter((column) => column.kind === 'category')
  const rows = train.length + test.length
  const tableRows = new Uint32Array(shared(rows * 4))
  tableRows.set(train)
  tableRows.set(test, train.length)
  shuffle(tableRows.subarray(0, train.length), seededRandom(configuration.seed))
  const marked = [...numbers.keys()].filter((at) => numbers[at]!.values.some(Number.isNaN))
  const width = numbers.length + marked.length
  let weights = width
  const firstSlots = categories.map((column) => {
    const first = weights
    weights += column.categories.length + 1
    return first
  })
  weights += 1
  const ordered = new Uint8Array(shared(rows))
  for (let place = 0; place < rows; place++) ordered[place] = labels[tableRows[place]!]!
  const chunks = Math.ceil(train.length / CHUNK) + Math.ceil(test.length / CHUNK)
  if (rows * width > 2 ** 32) throw new DataProblem(`${rows} rows of ${columns.length} features are too many here.`)
  return {
    configuration,
    numbers,
    categories,
    rows,
    trainRows: train.length,
    batch: Math.min(BATCH_MAX, Math.max(BATCH_MIN, Math.ceil(train.length / BATCHES_WANTED))),
    tableRows,
    labels: ordered,
    ...makeTestRows(ordered.subarray(train.length)),
    marked,
    means: new Float64Array(shared(numbers.length * 8)),
    scales: new Float64Array(shared(numbers.length * 8)),
    dense: new Float32Array(shared(rows * width * 4)),
    width,
    slots: new Int32Array(shared(rows * categories.length * 4)),
    slotted: categories.length,
    firstSlots,
    weights: new Float64Array(shared(weights * 8)),
    partSums: new Float64Array(shared(PARTS * weights * 8)),
    chunkLosses: new Float64Array(shared(chunks * 8)),
  }
}
