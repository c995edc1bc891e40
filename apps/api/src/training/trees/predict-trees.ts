// Gives the probabilities of a tree model over a table's columns, deciding each split exactly as LightGBM does.
import { type Column, NO_CATEGORY } from '../data/table.ts'
import { DECISION, type Tree } from './tree.ts'
import type { TreeModel } from './tree-model.ts'

/** LightGBM takes numbers this close to zero for zero. */
const ZERO = 1e-35

export function treePredictor({ trees, sigmoid, isAverage }: TreeModel) {
  const walked = trees.map(toWalked)
  const weight = isAverage ? sigmoid / trees.length : sigmoid
  return (columns: readonly Column[], rows: number): Float64Array => {
    const features = columns.map(valuesOf)
    const scores = new Float64Array(rows)
    for (const tree of walked) addTree(tree, features, scores)
    return scores.map((score) => 1 / (1 + Math.exp(-weight * score)))
  }
}

/** A category's code is its number in the model; a missing one is not a number. */
function valuesOf(column: Column): Float32Array | Float64Array {
  if (column.kind === 'number') return column.values
  return Float64Array.from(column.codes, (code) => (code === NO_CATEGORY ? Number.NaN : code))
}

/** A tree laid out for walking: plain splits need two comparisons, and what is neither goes where missing values go. */
interface Walked {
  tree: Tree
  feature: Int32Array
  threshold: Float64Array
  left: Int32Array
  right: Int32Array
  missing: Int32Array
  isPlain: Uint8Array
}

function toWalked(tree: Tree): Walked {
  const { decisionType, leftChild, rightChild } = tree
  const isSpecial = (decision: number) => (decision & (DECISION.category | DECISION.missingZero)) !== 0
  return {
    tree,
    feature: Int32Array.from(tree.splitFeature),
    threshold: Float64Array.from(tree.threshold),
    left: Int32Array.from(leftChild),
    right: Int32Array.from(rightChild),
    missing: Int32Array.from(decisionType, (_, split) =>
      goesLeft(tree, split, Number.NaN) ? leftChild[split]! : rightChild[split]!,
    ),
    isPlain: Uint8Array.from(decisionType, (decision) => (isSpecial(decision) ? 0 : 1)),
  }
}

function addTree(walked: Walked, features: readonly (Float32Array | Float64Array)[], scores: Float64Array): void {
  const { tree, feature, threshold, left, right, missing, isPlain } = walked
  const { leafValue } = tree
  const first = feature.length > 0 ? 0 : ~0
  for (let row = 0; row < scores.length; row++) {
    let next = first
    while (next >= 0) {
      const value = features[feature[next]!]![row]!
      if (isPlain[next] === 0) next = goesLeft(tree, next, value) ? left[next]! : right[next]!
      else if (value <= threshold[next]!) next = left[next]!
      else next = value > threshold[next]! ? right[next]! : missing[next]!
    }
    scores[row]! += leafValue[~next]!
  }
}

function goesLeft(tree: Tree, split: number, given: number): boolean {
  const decision = tree.decisionType[split]!
  if ((decision & DECISION.category) !== 0) return isChosen(tree, split, given)
  const missing = decision & DECISION.missing
  const value = Number.isNaN(given) && missing !== DECISION.missingNaN ? 0 : given
  const isMissing = missing === DECISION.missingNaN ? Number.isNaN(value) : missing !== 0 && Math.abs(value) <= ZERO
  return isMissing ? (decision & DECISION.missingLeft) !== 0 : value <= tree.threshold[split]!
}

function isChosen({ threshold, categoryBoundaries, categoryWords }: Tree, split: number, value: number): boolean {
  const code = Math.trunc(value)
  if (!(code >= 0)) return false
  const number = threshold[split]!
  const word = categoryBoundaries[number]! + Math.floor(code / 32)
  return word < categoryBoundaries[number + 1]! && ((categoryWords[word]! >>> (code & 31)) & 1) === 1
}
