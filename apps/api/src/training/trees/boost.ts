// The rounds of a tree training: each adds the tree that best corrects the sum of those before.
import { type Round, startingScore, testRoc, trainAndTestLoss } from '../round.ts'
import { hessianScale } from './gradients.ts'
import { TreeGrower } from './grow-tree.ts'
import { type Tree, withBias } from './tree.ts'
import type { TreeCrew } from './tree-crew.ts'
import { CHUNK, type TreeSpace } from './tree-space.ts'

/** p(1 - p) is never larger. */
const HESSIAN_MAX = 0.25

/** Tells each round with its tree, and whether the test loss is the best so far. */
export type OnTree = (round: Round, tree: Tree, improved: boolean) => void

export function boost(space: TreeSpace, crew: TreeCrew, onTree: OnTree): void {
  const { trees, early_stopping: patience } = space.configuration
  const kinds = space.columns.map(({ kind }) => kind)
  crew.runAll('learnBins')
  crew.runAll('fillBins')
  const grower = new TreeGrower(space, crew, kinds)
  const bias = startingScore(space)
  space.scores.fill(bias)
  let scale = hessianScale(space.trainRows, HESSIAN_MAX)
  crew.runAll('computeGradients', scale)
  let best = Infinity
  let bestStep = 0
  for (let step = 1; step <= trees; step++) {
    const tree = grower.grow(scale)
    crew.runAll('addToScores', tree.leafValue.length)
    // One tree changes scores little, so twice the largest hessian of this round is room enough for the next.
    const largest = space.chunkHessians.reduce((one, other) => Math.max(one, other), 0)
    scale = hessianScale(space.trainRows, Math.min(HESSIAN_MAX, 2 * largest))
    crew.runAll('computeGradients', scale)
    crew.runAll('sortTestRows')
    const round = { step, total_steps: trees, ...trainAndTestLoss(space, CHUNK), test_roc_auc: testRoc(space) }
    const improved = round.test_log_loss < best
    if (improved) {
      best = round.test_log_loss
      bestStep = step
    }
    onTree(round, step === 1 ? withBias(tree, bias) : tree, improved)
    const isExhausted = tree.splitFeature.length === 0
    if (isExhausted || (patience > 0 && step - bestStep >= patience)) return
  }
}
