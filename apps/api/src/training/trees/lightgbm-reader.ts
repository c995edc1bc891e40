// Reads a tree model in LightGBM's text format, whichever engine wrote it.
import { DataProblem } from '../data-problem.ts'
import type { Tree } from './tree.ts'
import type { TreeModel } from './tree-model.ts'

export function readLightgbm(text: string): TreeModel {
  const end = text.indexOf('\nend of trees')
  const [head = '', ...blocks] = text.slice(0, end === -1 ? 0 : end).split(/^Tree=\d+\r?$/m)
  const header = fieldsOf(head)
  if (!head.startsWith('tree') || blocks.length === 0) throw damaged('it has no trees')
  if (Number(header.get('num_class') ?? 1) !== 1) throw unusable('it tells more than two classes apart')
  const featureNames = wordsOf(header, 'feature_names')
  const [objective = '', ...settings] = (header.get('objective') ?? '').split(' ')
  if (objective !== 'binary') throw unusable(`its objective is ${objective || 'not told'}`)
  const sigmoid = Number(settings.find((word) => word.startsWith('sigmoid:'))?.slice('sigmoid:'.length) ?? 1)
  return {
    featureNames,
    featureInfos: wordsOf(header, 'feature_infos'),
    sigmoid,
    isAverage: header.has('average_output'),
    trees: blocks.map((block) => treeOf(fieldsOf(block), featureNames.length)),
    parameters: parametersOf(text.slice(end)),
  }
}

const damaged = (fault: string) => new DataProblem(`The model file is damaged: ${fault}.`)
const unusable = (reason: string) => new DataProblem(`The model cannot be used: ${reason}.`)

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of block.split(/\r?\n/)) {
    const equals = line.indexOf('=')
    if (line !== '')
      fields.set(equals === -1 ? line : line.slice(0, equals), equals === -1 ? '' : line.slice(equals + 1))
  }
  return fields
}

function wordsOf(fields: Map<string, string>, name: string): string[] {
  const line = fields.get(name)
  if (line === undefined) throw damaged(`${name} is missing`)
  return line.split(' ').filter((word) => word !== '')
}

function numbersOf(fields: Map<string, string>, name: string, count: number, isOptional = false): number[] {
  if (count === 0 || (isOptional && !fields.get(name))) return []
  const numbers = wordsOf(fields, name).map(toNumber)
  if (numbers.length !== count || numbers.some(Number.isNaN)) throw damaged(`${name} is not ${count} numbers`)
  return numbers
}

const toNumber = (word: string) =>
  /^-?inf$/i.test(word) ? (word.startsWith('-') ? -Infinity : Infinity) : Number(word)

function treeOf(fields: Map<string, string>, features: number): Tree {
  if (fields.get('is_linear') === '1') throw unusable('its leaves are linear models')
  const leaves = Number(fields.get('num_leaves'))
  const categorySplits = Number(fields.get('num_cat') ?? 0)
  if (!(leaves >= 1)) throw damaged('num_leaves is missing')
  const splits = leaves - 1
  const categoryBoundaries = categorySplits > 0 ? numbersOf(fields, 'cat_boundaries', categorySplits + 1) : [0]
  const tree: Tree = {
    splitFeature: numbersOf(fields, 'split_feature', splits),
    splitGain: numbersOf(fields, 'split_gain', splits, true),
    threshold: numbersOf(fields, 'threshold', splits),
    decisionType: numbersOf(fields, 'decision_type', splits),
    leftChild: numbersOf(fields, 'left_child', splits),
    rightChild: numbersOf(fields, 'right_child', splits),
    leafValue: numbersOf(fields, 'leaf_value', leaves),
    leafWeight: numbersOf(fields, 'leaf_weight', leaves, true),
    leafCount: numbersOf(fields, 'leaf_count', leaves, true),
    internalValue: numbersOf(fields, 'internal_value', splits, true),
    internalWeight: numbersOf(fields, 'internal_weight', splits, true),
    internalCount: numbersOf(fields, 'internal_count', splits, true),
    categoryBoundaries,
    categoryWords: numbersOf(fields, 'cat_threshold', categoryBoundaries.at(-1)!),
    shrinkage: Number(fields.get('shrinkage') ?? 1),
  }
  assertSound(tree, features)
  return tree
}

/** Every pointer leads further down to a split or to a leaf that is there, so following them always ends. */
function assertSound({ splitFeature, leftChild, rightChild, leafValue }: Tree, features: number): void {
  for (let split = 0; split < splitFeature.length; split++) {
    const feature = splitFeature[split]!
    if (!(feature >= 0 && feature < features)) throw damaged('a split uses a feature that is not there')
    for (const child of [leftChild[split]!, rightChild[split]!]) {
      const isLeaf = child < 0 && ~child < leafValue.length
      if (!isLeaf && !(child > split && child < splitFeature.length)) throw damaged('a split leads nowhere')
    }
  }
}

function parametersOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^\[([^:\]]+): ?(.*)\]\r?$/gm)].map(([, name, value]) => [name!, value!]))
}
