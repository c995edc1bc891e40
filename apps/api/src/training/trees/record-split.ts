// Writes a chosen split down in the terms of the text format: thresholds as values, categories as bits.
import { BINS } from './histogram-kernel.ts'
import type { Choice, Sums } from './split-search.ts'
import { DECISION, type Tree } from './tree.ts'
import type { TreeSpace } from './tree-space.ts'

/** Returns the split's number. */
export function recordSplit(tree: Tree, { bounds }: TreeSpace, sums: Sums, choice: Choice): number {
  tree.splitFeature.push(choice.feature)
  tree.splitGain.push(choice.gain)
  tree.internalCount.push(sums.count)
  tree.internalWeight.push(sums.hessian)
  tree.internalValue.push((-sums.gradient / sums.hessian) * tree.shrinkage)
  const ofFeature = bounds.subarray(choice.feature * BINS, (choice.feature + 1) * BINS)
  if (choice.kind === 'number') recordThreshold(tree, ofFeature[choice.bin]!, choice.missingLeft)
  else {
    const codes = choice.bins.map((bin) => ofFeature[bin]!)
    recordCategories(tree, codes)
  }
  return tree.splitFeature.length - 1
}

/** The last bin has no bound: every number is to its left and only what is missing to its right. */
function recordThreshold(tree: Tree, bound: number, missingLeft: boolean): void {
  tree.threshold.push(Number.isFinite(bound) ? bound : Number.MAX_VALUE)
  tree.decisionType.push(DECISION.missingNaN | (missingLeft ? DECISION.missingLeft : 0))
}

function recordCategories(tree: Tree, codes: readonly number[]): void {
  tree.threshold.push(tree.categoryBoundaries.length - 1)
  tree.decisionType.push(DECISION.category | DECISION.missingNaN)
  const words = Array<number>(Math.floor(Math.max(...codes) / 32) + 1).fill(0)
  for (const code of codes) words[code >>> 5] = (words[code >>> 5]! | (1 << (code & 31))) >>> 0
  tree.categoryWords.push(...words)
  tree.categoryBoundaries.push(tree.categoryWords.length)
}
