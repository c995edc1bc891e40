// A whole tree model, as its text file holds it: the trees and what is needed to read them.
import type { Encoding, Feature } from '../encoding.ts'
import { BINS } from './histogram-kernel.ts'
import { safeNames } from './safe-names.ts'
import type { Tree } from './tree.ts'
import type { TreeSpace } from './tree-space.ts'

export interface TreeModel {
  featureNames: string[]
  /** Per feature its range `[low:high]`, its categories `0:1:2`, or `none`. */
  featureInfos: string[]
  /** The probability is 1 / (1 + exp(-sigmoid · score)). */
  sigmoid: number
  /** Whether the score is the mean of the trees' values instead of their sum. */
  isAverage: boolean
  trees: Tree[]
  /** What the model was trained with, told in the file for people and other tools. */
  parameters: Record<string, string | number>
}

/** All but the trees of the model that a training makes. */
export function describeTrees(space: TreeSpace, { features }: Encoding): Omit<TreeModel, 'trees'> {
  const { trees, learning_rate, leaves, bins, min_rows, seed } = space.configuration
  return {
    featureNames: safeNames(features.map(({ name }) => name)),
    featureInfos: features.map(({ kind }, feature) => infoOf(space, kind, feature)),
    sigmoid: 1,
    isAverage: false,
    parameters: {
      boosting: 'gbdt',
      objective: 'binary',
      num_iterations: trees,
      learning_rate,
      num_leaves: leaves,
      max_bin: bins,
      min_data_in_leaf: min_rows,
      seed,
    },
  }
}

function infoOf({ bounds, binCounts, ranges }: TreeSpace, kind: Feature['kind'], feature: number): string {
  if (binCounts[feature] === 0) return 'none'
  if (kind === 'number') return `[${ranges[2 * feature]}:${ranges[2 * feature + 1]}]`
  return bounds
    .slice(feature * BINS, feature * BINS + binCounts[feature]!)
    .sort()
    .join(':')
}
