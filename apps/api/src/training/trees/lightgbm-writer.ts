// Writes a tree model in LightGBM's text format.
import type { Tree } from './tree.ts'
import type { TreeModel } from './tree-model.ts'

export function writeLightgbm(model: TreeModel): string {
  const blocks = model.trees.map((tree, number) => `Tree=${number}\n${treeBlock(tree)}\n\n`)
  const header = [
    'tree',
    'version=v4',
    'num_class=1',
    'num_tree_per_iteration=1',
    'label_index=0',
    `max_feature_idx=${model.featureNames.length - 1}`,
    `objective=binary sigmoid:${model.sigmoid}`,
    ...(model.isAverage ? ['average_output'] : []),
    `feature_names=${model.featureNames.join(' ')}`,
    `feature_infos=${model.featureInfos.join(' ')}`,
    // LightGBM finds each tree by these sizes, so they must be those of the blocks to the byte.
    `tree_sizes=${blocks.map((block) => Buffer.byteLength(block)).join(' ')}`,
  ]
  const importances = splitCounts(model).map(([name, count]) => `${name}=${count}\n`)
  const parameters = Object.entries(model.parameters).map(([name, value]) => `[${name}: ${value}]\n`)
  return [
    `${header.join('\n')}\n\n${blocks.join('')}end of trees\n\n`,
    `feature_importances:\n${importances.join('')}\n`,
    `parameters:\n${parameters.join('')}\nend of parameters\n\npandas_categorical:null\n`,
  ].join('')
}

function treeBlock(tree: Tree): string {
  const categorySplits = tree.categoryBoundaries.length - 1
  const lines: [string, number | number[]][] = [
    ['num_leaves', tree.leafValue.length],
    ['num_cat', categorySplits],
    ['split_feature', tree.splitFeature],
    ['split_gain', tree.splitGain],
    ['threshold', tree.threshold],
    ['decision_type', tree.decisionType],
    ['left_child', tree.leftChild],
    ['right_child', tree.rightChild],
    ['leaf_value', tree.leafValue],
    ['leaf_weight', tree.leafWeight],
    ['leaf_count', tree.leafCount],
    ['internal_value', tree.internalValue],
    ['internal_weight', tree.internalWeight],
    ['internal_count', tree.internalCount],
  ]
  if (categorySplits > 0) lines.push(['cat_boundaries', tree.categoryBoundaries], ['cat_threshold', tree.categoryWords])
  lines.push(['is_linear', 0], ['shrinkage', tree.shrinkage])
  return lines.map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(' ') : value}\n`).join('')
}

/** How often each feature is used, the most used first. */
function splitCounts({ featureNames, trees }: TreeModel): [string, number][] {
  const counts = new Map<number, number>()
  for (const { splitFeature } of trees) {
    for (const feature of splitFeature) counts.set(feature, (counts.get(feature) ?? 0) + 1)
  }
  return [...counts]
    .sort(([one, ofOne], [other, ofOther]) => ofOther - ofOne || one - other)
    .map(([feature, count]) => [featureNames[feature]!, count])
}
