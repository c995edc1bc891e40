// The tasks the threads of a tree training share out among themselves.
import { partOf, type Share } from '../crew.ts'
import { sortTestRows } from '../round.ts'
import { fillBins, learnBins } from './fill-bins.ts'
import { computeGradients, sumHessians } from './gradients.ts'
import { BLOCK, BLOCK_HISTOGRAM_BYTES, histogramKernel } from './histogram-kernel.ts'
import { divideRows, gatherRows } from './partition.ts'
import type { TreeSpace } from './tree-space.ts'

/** Rows whose bins stay in the cache while one block of features after the other is summed. */
const PIECE = 256

export function treeTasks(space: TreeSpace) {
  const lastWidth = space.features - (space.blocks - 1) * BLOCK
  const kernel = histogramKernel(space.memory, 8)
  const lastKernel = histogramKernel(space.memory, lastWidth > 4 ? 8 : 4)
  const { memory, blocks, stride, rowBinsAt, pairsAt, listAt } = space
  return {
    learnBins: (share: Share) => learnBins(space, share),
    fillBins(share: Share) {
      fillBins(space, share)
      space.columns.length = 0
    },
    computeGradients: (share: Share, scale: number) => computeGradients(space, share, scale),
    divideRows: (share: Share, start: number, end: number, feature: number) =>
      divideRows(space, share, start, end, feature),
    gatherRows: (share: Share, start: number, end: number) => gatherRows(space, share, start, end),
    sumHessians: (share: Share, leaves: number) => sumHessians(space, share, leaves),
    sortTestRows: (share: Share) => sortTestRows(space, share),
    addToScores: (share: Share, leaves: number) => addToScores(space, share, leaves),

    /** Each member sums the pieces of the list it takes into a histogram of its own. */
    sumBins({ member, next }: Share, start: number, end: number) {
      const histogramAt = member * blocks * BLOCK_HISTOGRAM_BYTES
      new Uint8Array(memory.buffer, histogramAt, blocks * BLOCK_HISTOGRAM_BYTES).fill(0)
      for (let from = start + next() * PIECE; from < end; from = start + next() * PIECE) {
        const rows = listAt + from * 4
        const rowsEnd = listAt + Math.min(from + PIECE, end) * 4
        for (let block = 0; block < blocks; block++) {
          const histogram = histogramAt + block * BLOCK_HISTOGRAM_BYTES
          const sum = block === blocks - 1 ? lastKernel : kernel
          sum(rowBinsAt + block * BLOCK, stride, pairsAt, rows, rowsEnd, histogram)
        }
      }
    },
  }
}

export type TreeTasks = ReturnType<typeof treeTasks>

/** Training and test rows alike move on by the value of the leaf they ended in. */
function addToScores(space: TreeSpace, share: Share, leaves: number): void {
  const list = new Uint32Array(space.memory.buffer, space.listAt, space.rows)
  const { scores, leafRanges, leafValues } = space
  for (let leaf = 0; leaf < leaves; leaf++) {
    const value = leafValues[leaf]!
    for (const first of [leaf * 4, leaf * 4 + 2]) {
      const [from, to] = partOf(share, leafRanges[first]!, leafRanges[first + 1]!)
      for (let at = from; at < to; at++) scores[list[at]!]! += value
    }
  }
}
