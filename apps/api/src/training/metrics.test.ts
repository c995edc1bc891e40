// Metrics against a table made with scikit-learn, and what one class alone leaves undefined.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { evaluate, METRICS, type Metric, ranking } from './metrics.ts'
import { seededRandom } from './random.ts'

interface Case {
  name: string
  labels: number[]
  probabilities: number[]
  metrics: Partial<Record<Metric, number>>
}

const table = new URL('../../test/fixtures/training/metrics.json', import.meta.url)
const { cases }: { cases: Case[] } = JSON.parse(readFileSync(table, 'utf8'))

for (const { name, labels, probabilities, metrics } of cases) {
  test(`metrics equal scikit-learn's: ${name}`, () => {
    const evaluation = evaluate(Uint8Array.from(labels), Float64Array.from(probabilities))
    assert.deepEqual(Object.keys(evaluation.metrics).sort(), Object.keys(metrics).sort())
    for (const metric of METRICS) {
      const wanted = metrics[metric]
      if (wanted === undefined) assert.match(evaluation.omitted[metric] ?? '', /class/)
      else assert.ok(Math.abs(evaluation.metrics[metric]! - wanted) <= 1e-12, `${metric} is ${wanted}`)
    }
  })
}

test('no rows define no metric, and each says so', () => {
  const { metrics, omitted } = evaluate(new Uint8Array(0), new Float64Array(0))
  assert.deepEqual(metrics, {})
  assert.deepEqual(Object.keys(omitted), [...METRICS])
})

test('the area under the curve is the share of pairs in the right order, ties counting half', () => {
  const random = seededRandom(3)
  const labels = Uint8Array.from({ length: 200 }, () => Math.round(random()))
  const scores = Float64Array.from({ length: 200 }, () => Math.floor(random() * 12) / 12)
  let right = 0
  let pairs = 0
  for (const [one, label] of labels.entries()) {
    if (label === 0) continue
    for (const [zero, other] of labels.entries()) {
      if (other === 1) continue
      pairs++
      right += scores[one]! > scores[zero]! ? 1 : scores[one] === scores[zero] ? 0.5 : 0
    }
  }
  assert.ok(Math.abs(ranking(labels, scores)!.roc_auc - right / pairs) < 1e-14)
})
