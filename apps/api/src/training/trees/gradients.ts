// How far each row's prediction is off, written as integers whose sums are exact in any order.
import type { Share } from '../crew.ts'
import { LossSum } from '../loss-sum.ts'
import { CHUNK, type TreeSpace } from './tree-space.ts'

/** The count of rows takes the low bits of the second integer; the hessians' sum stands above it. */
const COUNT_BITS = 28
const COUNT_MASK = (1 << COUNT_BITS) - 1
const HIGH = 2 ** 32
const HESSIAN_HIGH = 2 ** (32 - COUNT_BITS)

/** A power of two, so scaling loses nothing, small enough that the sum over all rows stays exact as a number. */
export const gradientScale = (rows: number) => 2 ** (51 - Math.ceil(Math.log2(rows + 1)))

/** What one row's hessian may be at most, so that all together stay below the integer's end. */
const hessianMax = (rows: number) => Math.floor(2 ** (62 - COUNT_BITS) / (rows + 1))
export const hessianScale = (rows: number, largest: number) =>
  2 ** Math.floor(Math.log2(hessianMax(rows) / Math.max(largest, Number.EPSILON)))

/** Scores become probabilities, losses and gradients; a chunk's losses are summed in one order always. */
export function computeGradients(space: TreeSpace, { next }: Share, scale: number): void {
  const trainChunks = Math.ceil(space.trainRows / CHUNK)
  for (let chunk = next(); chunk < space.chunkLosses.length; chunk = next()) {
    if (chunk < trainChunks) trainChunk(space, chunk, chunk * CHUNK, scale)
    else testChunk(space, chunk, space.trainRows + (chunk - trainChunks) * CHUNK)
  }
}

function trainChunk(space: TreeSpace, chunk: number, start: number, hessianScale: number): void {
  const { scores, labels, trainRows } = space
  const pairs = new Int32Array(space.memory.buffer, space.pairsAt, trainRows * 4)
  const scale = gradientScale(trainRows)
  const most = hessianMax(trainRows)
  const end = Math.min(start + CHUNK, trainRows)
  const losses = new LossSum()
  let largest = 0
  for (let place = start; place < end; place++) {
    const probability = 1 / (1 + Math.exp(-scores[place]!))
    const label = labels[place]!
    losses.add(label === 1 ? probability : 1 - probability)
    const gradient = Math.round((probability - label) * scale)
    const gradientHigh = Math.floor(gradient / HIGH)
    const exact = probability * (1 - probability)
    const hessian = Math.min(most, Math.round(exact * hessianScale))
    const hessianHigh = Math.floor(hessian / HESSIAN_HIGH)
    pairs[place * 4] = gradient - gradientHigh * HIGH
    pairs[place * 4 + 1] = gradientHigh
    pairs[place * 4 + 2] = ((hessian - hessianHigh * HESSIAN_HIGH) << COUNT_BITS) | 1
    pairs[place * 4 + 3] = hessianHigh
    if (exact > largest) largest = exact
  }
  space.chunkLosses[chunk] = losses.total()
  space.chunkHessians[chunk] = largest
}

function testChunk(
  { scores, labels, testProbabilities, trainRows, rows, chunkLosses }: TreeSpace,
  chunk: number,
  start: number,
): void {
  const end = Math.min(start + CHUNK, rows)
  const losses = new LossSum()
  for (let place = start; place < end; place++) {
    const probability = 1 / (1 + Math.exp(-scores[place]!))
    losses.add(labels[place] === 1 ? probability : 1 - probability)
    testProbabilities[place - trainRows] = probability
  }
  chunkLosses[chunk] = losses.total()
}

/** p(1 - p) is the same whichever the label, so it follows from the gradient alone. */
function hessianOf(pairs: Int32Array, place: number, scale: number): number {
  const gradient = Math.abs(pairs[place * 4 + 1]! * HIGH + (pairs[place * 4]! >>> 0)) / scale
  return gradient * (1 - gradient)
}

/** Adds up one histogram bin's two integers as gradient, hessian and count. */
export function addBin(histogram: Int32Array, bin: number, sums: Float64Array, at: number): void {
  const low = histogram[bin * 4 + 2]!
  sums[at]! += histogram[bin * 4 + 1]! * HIGH + (histogram[bin * 4]! >>> 0)
  sums[at + 1]! += histogram[bin * 4 + 3]! * HESSIAN_HIGH + (low >>> COUNT_BITS)
  sums[at + 2]! += low & COUNT_MASK
}

/** The exact sum of a leaf's hessians, for its value; the integers above are only as fine as choosing a split needs. */
export function sumHessians(space: TreeSpace, { next }: Share, leaves: number): void {
  const pairs = new Int32Array(space.memory.buffer, space.pairsAt, space.trainRows * 4)
  const list = new Uint32Array(space.memory.buffer, space.listAt, space.rows)
  const scale = gradientScale(space.trainRows)
  for (let leaf = next(); leaf < leaves; leaf = next()) {
    let sum = 0
    const end = space.leafRanges[leaf * 4 + 1]!
    for (let at = space.leafRanges[leaf * 4]!; at < end; at++) sum += hessianOf(pairs, list[at]!, scale)
    space.leafHessians[leaf] = sum
  }
}
