// A checkpoint (docs/contract.md, 2.10) as something that predicts, whichever architecture made it and whichever engine wrote it.
import { readFile } from 'node:fs/promises'
import type { Column } from './data/table.ts'
import { DataProblem } from './data-problem.ts'
import { type Encoding, parseEncoding } from './encoding.ts'
import { predictLinear, readLinear } from './linear/linear-model.ts'
import { readLightgbm } from './trees/lightgbm-reader.ts'
import { treePredictor } from './trees/predict-trees.ts'

export interface Model {
  encoding: Encoding
  /** Takes the features in the encoding's order; gives each row's probability of the positive class. */
  predict(columns: readonly Column[], rows: number): Float64Array
}

export interface CheckpointFiles {
  path: string
  encodingPath: string
}

export async function loadModel({ path, encodingPath }: CheckpointFiles): Promise<Model> {
  const [text, encodingText] = await Promise.all([
    readPart(path, 'model file'),
    readPart(encodingPath, 'feature encoding'),
  ])
  return parseModel(text, parseEncoding(encodingText))
}

/** The two forms differ from the first sign on: JSON starts with a brace. */
export function parseModel(text: string, encoding: Encoding): Model {
  const { inputs, predict } = text.startsWith('{') ? linearModel(text) : treeModel(text)
  if (inputs !== encoding.features.length) {
    throw new DataProblem(`The model has ${inputs} inputs, but its feature encoding has ${encoding.features.length}.`)
  }
  return { encoding, predict }
}

function linearModel(text: string) {
  const model = readLinear(text)
  return {
    inputs: model.inputs.length,
    predict: (columns: readonly Column[], rows: number) => predictLinear(model, columns, rows),
  }
}

function treeModel(text: string) {
  const model = readLightgbm(text)
  return { inputs: model.featureNames.length, predict: treePredictor(model) }
}

async function readPart(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new DataProblem(`The checkpoint's ${what} cannot be read.`, error)
  }
}
