// Made-up rows whose true probabilities are known, so that a model can be held against the best there could be.
import { seededRandom } from './random.ts'

export interface SyntheticData {
  /** Independent numbers from -1.7 to 1.7, with mean 0 and spread 1. */
  features: Float64Array[]
  probabilities: Float64Array
  labels: Uint8Array
}

/** A score is what the logistic function makes a row's probability from. */
export type Score = (row: readonly number[]) => number

export const linearScore: Score = ([a = 0, b = 0, c = 0, d = 0]) => 1.2 * a - 0.8 * b + 0.5 * c + 0.2 * d - 0.4
export const crookedScore: Score = ([a = 0, b = 0, c = 0, d = 0]) =>
  (a > 0.3 ? 1.5 : -0.7) + (b > 0 && c > 0 ? 1.4 : -0.5) + (Math.abs(d) > 1 ? 0.6 : -0.3)

export function syntheticData(rows: number, features: number, score: Score, seed: number): SyntheticData {
  const random = seededRandom(seed)
  const width = 2 * Math.sqrt(3)
  const columns = Array.from({ length: features }, () => new Float64Array(rows))
  const probabilities = new Float64Array(rows)
  const labels = new Uint8Array(rows)
  for (let row = 0; row < rows; row++) {
    for (const column of columns) column[row] = (random() - 0.5) * width
    const probability = 1 / (1 + Math.exp(-score(columns.map((column) => column[row]!))))
    probabilities[row] = probability
    labels[row] = random() < probability ? 1 : 0
  }
  return { features: columns, probabilities, labels }
}

/** As CSV with the columns x0, x1, … and y. */
export function toCsv({ features, labels }: SyntheticData): string {
  const header = [...features.keys()].map((at) => `x${at}`)
  const lines = Array.from(labels, (label, row) => [...features.map((column) => column[row]!), label].join(','))
  return `${[...header, 'y'].join(',')}\n${lines.join('\n')}\n`
}
