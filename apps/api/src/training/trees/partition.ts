// Rearranges a leaf's rows so that those going left come first, keeping their order on both sides.
import { type Membership, partOf } from '../crew.ts'
import type { TreeSpace } from './tree-space.ts'

/** First every member divides its own part: the left rows fill it from the front, the right rows from the back. */
export function divideRows(
  space: TreeSpace,
  membership: Membership,
  start: number,
  end: number,
  feature: number,
): void {
  const [from, to] = partOf(membership, start, end)
  const { memory, leftBins, rows } = space
  const bins = new Uint8Array(memory.buffer, space.featureBinsAt + feature * rows, rows)
  const { list, moved } = listsOf(space)
  let left = from
  let right = to - 1
  // Both ends are written and one of them advances, because which one it is cannot be guessed ahead.
  for (let at = from; at < to; at++) {
    const place = list[at]!
    const isLeft = leftBins[bins[place]!]!
    moved[left] = place
    moved[right] = place
    left += isLeft
    right -= 1 - isLeft
  }
  space.leftCounts[membership.member] = left - from
}

/** Then all parts' left rows are laid one after the other, and their right rows, turned round again, behind them. */
export function gatherRows(space: TreeSpace, membership: Membership, start: number, end: number): void {
  const [from, to] = partOf(membership, start, end)
  const counts = space.leftCounts.subarray(0, membership.members)
  const { list, moved } = listsOf(space)
  const leftBefore = sum(counts.subarray(0, membership.member))
  const leftEnd = from + counts[membership.member]!
  list.set(moved.subarray(from, leftEnd), start + leftBefore)
  let right = start + sum(counts) + (from - start - leftBefore)
  for (let at = to - 1; at >= leftEnd; at--) list[right++] = moved[at]!
}

function listsOf({ memory, listAt, movedAt, rows }: TreeSpace) {
  return { list: new Uint32Array(memory.buffer, listAt, rows), moved: new Uint32Array(memory.buffer, movedAt, rows) }
}

const sum = (counts: Int32Array) => counts.reduce((total, count) => total + count, 0)
