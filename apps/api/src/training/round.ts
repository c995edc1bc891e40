// What each round of a training tells: how well the model does on the rows it learns from and on those it does not.
import type { Share } from './crew.ts'
import { rankingOf } from './metrics.ts'
import { sortedScores } from './sort-scores.ts'

export interface Round {
  step: number
  total_steps: number
  train_log_loss: number
  test_log_loss: number
  test_roc_auc: number
}

/** The test rows, shared by the threads: their labels, what the model says of them, and that in order by class. */
export interface TestRows {
  testLabels: Uint8Array
  testProbabilities: Float64Array
  testPositives: Float64Array
  testNegatives: Float64Array
}

export function makeTestRows(testLabels: Uint8Array): TestRows {
  const positives = testLabels.reduce((sum, label) => sum + label, 0)
  const shared = (count: number) => new Float64Array(new SharedArrayBuffer(count * 8))
  return {
    testLabels,
    testProbabilities: shared(testLabels.length),
    testPositives: shared(positives),
    testNegatives: shared(testLabels.length - positives),
  }
}

/** The sorting is most of the work, and the two classes can be sorted side by side. */
export function sortTestRows(tested: TestRows, { next }: Share): void {
  for (let label = next(); label < 2; label = next()) {
    const sorted = label === 1 ? tested.testPositives : tested.testNegatives
    sorted.set(sortedScores(tested.testLabels, tested.testProbabilities, label))
  }
}

export const testRoc = ({ testPositives, testNegatives }: TestRows) => rankingOf(testPositives, testNegatives)!.roc_auc

/** Where the threads leave the losses of the training rows' chunks, then of the test rows' chunks. */
interface Losses {
  chunkLosses: Float64Array
  trainRows: number
  rows: number
}

export function trainAndTestLoss({ chunkLosses, trainRows, rows }: Losses, chunk: number) {
  const trainChunks = Math.ceil(trainRows / chunk)
  const sum = (losses: Float64Array) => losses.reduce((total, loss) => total + loss, 0)
  return {
    train_log_loss: sum(chunkLosses.subarray(0, trainChunks)) / trainRows,
    test_log_loss: sum(chunkLosses.subarray(trainChunks)) / (rows - trainRows),
  }
}

/** The score that predicts the share of positives among the training rows, before anything is learned. */
export function startingScore({ labels, trainRows }: { labels: Uint8Array; trainRows: number }): number {
  let positives = 0
  for (let place = 0; place < trainRows; place++) positives += labels[place]!
  return Math.log(positives / (trainRows - positives))
}
