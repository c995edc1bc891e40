// Evaluates a model on files: rows are read, predicted and let go of piece by piece; only the outcomes are kept.
import type { DataLimits } from './data/database.ts'
import { withDataset } from './data/dataset.ts'
import type { DataFile } from './data/faults.ts'
import { readPieces } from './data/read-table.ts'
import type { Format } from './data/source-file.ts'
import { DataProblem } from './data-problem.ts'
import { planFor, toLabels } from './encoding.ts'
import { type Evaluation, evaluate } from './metrics.ts'
import type { Model } from './model.ts'
import { NO_LABEL } from './split.ts'

export interface EvaluationResult extends Evaluation {
  rows: number
  rows_without_target: number
}

export async function evaluateModel(
  { encoding, predict }: Model,
  files: readonly DataFile[],
  format: Format,
  limits: DataLimits,
): Promise<EvaluationResult> {
  return withDataset(files, format, limits, async (dataset) => {
    const labels = new Uint8Array(dataset.rows)
    const probabilities = new Float64Array(dataset.rows)
    let kept = 0
    for await (const { rows, columns } of readPieces(dataset, await planFor(dataset, encoding))) {
      const [target, ...features] = columns
      const given = toLabels(target!, encoding.target)
      const predicted = predict(features, rows)
      for (let row = 0; row < rows; row++) {
        if (given[row] === NO_LABEL) continue
        labels[kept] = given[row]!
        probabilities[kept++] = predicted[row]!
      }
    }
    const counted = probabilities.subarray(0, kept)
    if (counted.some(Number.isNaN)) throw new DataProblem('The model gives no probability for some rows.')
    return {
      rows: kept,
      rows_without_target: dataset.rows - kept,
      ...evaluate(labels.subarray(0, kept), counted),
    }
  })
}
