// The first two tasks of a tree training: learn each feature's bins, then write down every row's bin.
import type { Share } from '../crew.ts'
import { type CategoryColumn, NO_CATEGORY, type NumberColumn } from '../data/table.ts'
import { BinFinder } from './bin-finder.ts'
import { learnCategoryBins, learnNumberBins } from './binning.ts'
import { BINS } from './histogram-kernel.ts'
import type { TreeSpace } from './tree-space.ts'

const PIECE = 1024

export function learnBins(space: TreeSpace, { next }: Share): void {
  const trainRows = space.tableRows.subarray(0, space.trainRows)
  for (let feature = next(); feature < space.features; feature = next()) {
    const column = space.columns[feature]!
    const bounds = space.bounds.subarray(feature * BINS, (feature + 1) * BINS).fill(Infinity)
    if (column.kind === 'category') {
      const codes = learnCategoryBins(column, trainRows, space.configuration.bins)
      bounds.set(codes)
      space.binCounts[feature] = codes.length
    } else {
      const learned = learnNumberBins(column, trainRows, space.configuration.bins)
      bounds.set(learned.bounds)
      space.binCounts[feature] = learned.minimum > learned.maximum ? 0 : learned.bounds.length + 1
      space.ranges[2 * feature] = learned.minimum
      space.ranges[2 * feature + 1] = learned.maximum
    }
  }
}

/** Rows are filled a piece at a time, so that what is written stays in the cache until it is complete. */
export function fillBins(space: TreeSpace, { next }: Share): void {
  const writers = space.columns.map((column, feature) =>
    column.kind === 'category' ? categoryWriter(space, column, feature) : numberWriter(space, column, feature),
  )
  for (let from = next() * PIECE; from < space.rows; from = next() * PIECE) {
    for (const write of writers) write(from, Math.min(from + PIECE, space.rows))
  }
}

type Writer = (from: number, to: number) => void

function viewsOf({ memory, rowBinsAt, featureBinsAt, stride, rows }: TreeSpace, feature: number) {
  return {
    stride,
    rowBins: new Uint8Array(memory.buffer, rowBinsAt + feature, stride * (rows - 1) + 1),
    featureBins: new Uint8Array(memory.buffer, featureBinsAt + feature * rows, rows),
  }
}

function categoryWriter(space: TreeSpace, { codes, categories }: CategoryColumn, feature: number): Writer {
  const { rowBins, featureBins, stride } = viewsOf(space, feature)
  const { tableRows } = space
  const missing = space.binCounts[feature]!
  const binOf = new Uint8Array(categories.length).fill(missing)
  for (let bin = 0; bin < missing; bin++) binOf[space.bounds[feature * BINS + bin]!] = bin
  return (from, to) => {
    for (let place = from; place < to; place++) {
      const code = codes[tableRows[place]!]!
      const bin = code === NO_CATEGORY ? missing : binOf[code]!
      rowBins[place * stride] = bin
      featureBins[place] = bin
    }
  }
}

function numberWriter(space: TreeSpace, { values }: NumberColumn, feature: number): Writer {
  const { rowBins, featureBins, stride } = viewsOf(space, feature)
  const { tableRows } = space
  const missing = space.binCounts[feature]!
  const bounds = space.bounds.subarray(feature * BINS, (feature + 1) * BINS)
  const finder = new BinFinder(bounds.subarray(0, Math.max(0, missing - 1)))
  return (from, to) => {
    for (let place = from; place < to; place++) {
      const value = values[tableRows[place]!]!
      const bin = Number.isNaN(value) || missing === 0 ? missing : finder.binOf(value)
      rowBins[place * stride] = bin
      featureBins[place] = bin
    }
  }
}
