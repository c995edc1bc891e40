// One decision tree in the terms of LightGBM's text format, which both engines read and write.

/**
 * Splits are numbered in the order they were made. A child below zero is a leaf: its bitwise complement is the leaf's
 * number. A category split's threshold is its number among the tree's category splits.
 */
export interface Tree {
  splitFeature: number[]
  splitGain: number[]
  threshold: number[]
  decisionType: number[]
  leftChild: number[]
  rightChild: number[]
  leafValue: number[]
  leafWeight: number[]
  leafCount: number[]
  internalValue: number[]
  internalWeight: number[]
  internalCount: number[]
  /** Category split n owns the words from boundary n to boundary n + 1; a set bit sends that category left. */
  categoryBoundaries: number[]
  categoryWords: number[]
  shrinkage: number
}

/** The bits of a decision type; bits 2 and 3 say which values count as missing. */
export const DECISION = { category: 1, missingLeft: 2, missingZero: 4, missingNaN: 8, missing: 12 } as const

export function emptyTree(shrinkage: number): Tree {
  return {
    splitFeature: [],
    splitGain: [],
    threshold: [],
    decisionType: [],
    leftChild: [],
    rightChild: [],
    leafValue: [],
    leafWeight: [],
    leafCount: [],
    internalValue: [],
    internalWeight: [],
    internalCount: [],
    categoryBoundaries: [0],
    categoryWords: [],
    shrinkage,
  }
}

/** The same tree with a constant added to every value, as the first tree of a model carries the starting score. */
export function withBias(tree: Tree, bias: number): Tree {
  const raised = (values: number[]) => values.map((value) => value + bias)
  return { ...tree, leafValue: raised(tree.leafValue), internalValue: raised(tree.internalValue) }
}
