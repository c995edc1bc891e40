// The eight metrics of a two-class model, equal to scikit-learn's to 1e-12 (docs/contract.md, 2.8).
import { sortedScores } from './sort-scores.ts'

export const METRICS = ['accuracy', 'f1', 'precision', 'recall', 'roc_auc', 'log_loss', 'ks', 'gini'] as const
export type Metric = (typeof METRICS)[number]

export interface Evaluation {
  metrics: Partial<Record<Metric, number>>
  /** Metrics that these rows do not define, each with the reason. */
  omitted: Partial<Record<Metric, string>>
}

const THRESHOLD = 0.5
const RANKING = ['roc_auc', 'ks', 'gini'] as const

export function evaluate(labels: Uint8Array, probabilities: Float64Array): Evaluation {
  if (labels.length === 0) {
    return { metrics: {}, omitted: Object.fromEntries(METRICS.map((name) => [name, 'There are no rows.'])) }
  }
  const metrics = { ...decisions(labels, probabilities), log_loss: logLoss(labels, probabilities) }
  const ranked = ranking(labels, probabilities)
  if (ranked) return { metrics: { ...metrics, ...ranked, gini: 2 * ranked.roc_auc - 1 }, omitted: {} }
  const reason = `All rows are of the ${labels[0] === 1 ? 'positive' : 'negative'} class.`
  return { metrics, omitted: Object.fromEntries(RANKING.map((name) => [name, reason])) }
}

function decisions(labels: Uint8Array, probabilities: Float64Array) {
  let truePositive = 0
  let predictedPositive = 0
  let positive = 0
  for (let row = 0; row < labels.length; row++) {
    const predicted = probabilities[row]! >= THRESHOLD ? 1 : 0
    const label = labels[row]!
    positive += label
    predictedPositive += predicted
    truePositive += label & predicted
  }
  const trueNegative = labels.length - positive - predictedPositive + truePositive
  return {
    accuracy: (truePositive + trueNegative) / labels.length,
    precision: ratio(truePositive, predictedPositive),
    recall: ratio(truePositive, positive),
    f1: ratio(2 * truePositive, predictedPositive + positive),
  }
}

const ratio = (part: number, whole: number) => (whole === 0 ? 0 : part / whole)

/** p and 1 - p are clipped separately, so a probability of exactly 0 or 1 costs a finite loss. */
export function rowLoss(label: number, probability: number): number {
  const ofLabel = label === 1 ? probability : 1 - probability
  return -Math.log(Math.min(Math.max(ofLabel, Number.EPSILON), 1 - Number.EPSILON))
}

export function logLoss(labels: Uint8Array, probabilities: Float64Array): number {
  let sum = 0
  let lost = 0
  for (let row = 0; row < labels.length; row++) {
    const term = rowLoss(labels[row]!, probabilities[row]!) - lost
    const next = sum + term
    lost = next - sum - term
    sum = next
  }
  return sum / labels.length
}

export interface Ranking {
  roc_auc: number
  ks: number
}

/** The two ranking metrics, or nothing when only one class is there. */
export function ranking(labels: Uint8Array, probabilities: Float64Array): Ranking | undefined {
  // Each class is sorted on its own, so no row numbers need to move along.
  return rankingOf(sortedScores(labels, probabilities, 1), sortedScores(labels, probabilities, 0))
}

/** The same from the two classes' scores, each in ascending order. */
export function rankingOf(positives: Float64Array, negatives: Float64Array): Ranking | undefined {
  if (positives.length === 0 || negatives.length === 0) return undefined
  let positive = positives.length
  let negative = negatives.length
  let doubledArea = 0
  let ks = 0
  // Walks down from the highest score; rows of equal score are passed together, which makes one trapezoid.
  while (positive > 0 || negative > 0) {
    const score = Math.max(positives[positive - 1] ?? -Infinity, negatives[negative - 1] ?? -Infinity)
    const passedBefore = positives.length - positive
    const negativeBefore = negative
    while (positive > 0 && positives[positive - 1] === score) positive--
    while (negative > 0 && negatives[negative - 1] === score) negative--
    const passed = positives.length - positive
    doubledArea += (negativeBefore - negative) * (passedBefore + passed)
    ks = Math.max(ks, Math.abs(passed / positives.length - (negatives.length - negative) / negatives.length))
  }
  return { roc_auc: doubledArea / 2 / positives.length / negatives.length, ks }
}
