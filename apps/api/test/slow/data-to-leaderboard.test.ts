// The whole way, on the service as it is started and a real S3 server: connector, scan, trainings of both kinds, checkpoints, benchmark, evaluation, leaderboard.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { evaluate } from '../../src/training/metrics.ts'
import { crookedScore, linearScore, syntheticData, toCsv } from '../../src/training/synthetic-data.ts'
import { startMain } from '../support/main-process.ts'
import { call } from '../support/processes.ts'
import { type S3Server, startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { KEYS } from '../support/s3-server-files.ts'
import { until } from '../support/service.ts'
import { makeBucket, trainingSteps } from '../support/trainings.ts'

const missing = await whyNoS3Server()
const METRICS = ['accuracy', 'f1', 'precision', 'recall', 'roc_auc', 'log_loss', 'ks', 'gini']
const KINDS = {
  'logistic-regression': { score: linearScore, settings: { epochs: 10 } },
  'gradient-boosted-trees': { score: crookedScore, settings: { trees: 60, leaves: 12 } },
}

let store: S3Server
let service: Awaited<ReturnType<typeof startMain>>
let steps: ReturnType<typeof trainingSteps>

before(async () => {
  if (missing) return
  store = await startS3Server()
  const s3 = store.client
  await makeBucket(store, 'data')
  for (const [name, { score }] of Object.entries(KINDS)) {
    for (const [part, seed] of [
      ['train', 1],
      ['unseen', 2],
    ] as const) {
      const Body = toCsv(syntheticData(20_000, 6, score, seed))
      await s3.send(new PutObjectCommand({ Bucket: 'data', Key: `in/${name}-${part}.csv`, Body }))
    }
  }
  service = await startMain({ AWS_ENDPOINT_URL_S3: store.endpoint, RATE_LIMIT_USER_PER_SECOND: '0' })
  const admin = await service.signIn('ana')
  steps = trainingSteps((...request) => call(admin, ...request), admin.space)
})
after(async () => {
  if (missing) return
  await service?.stop()
  await store?.stop()
})

for (const [architecture, { score, settings }] of Object.entries(KINDS)) {
  test(`${architecture}: from the bucket to the leaderboard, within 0.005 of the true AUC`, {
    skip: missing,
  }, async () => {
    const connector = await steps.connector('data', KEYS, 'in/')
    const file = `${architecture}-train.csv`
    await until('it is active', async () => (await steps.ask('GET', `connectors/${connector}`)).status === 'active')
    await steps.ask('POST', `connectors/${connector}/scan`, { files: [file] })
    await until('it is scanned', async () => (await steps.ask('GET', `connectors/${connector}`)).status === 'active')
    const [scan] = (await steps.ask('GET', `connectors/${connector}/scans`)).data
    assert.equal(scan.files[0].row_count, 20_000)

    const data_model_id = await steps.dataModel(architecture)
    const benchmark = await steps.ask('POST', 'benchmarks', {
      name: 'unseen',
      description: 'rows that were not learned from',
      task: 'classification',
      metrics: METRICS,
      connectors: [{ connector_id: connector, keys: [`${architecture}-unseen.csv`] }],
    })
    const wanted = {
      architecture,
      data_model_id,
      configuration: { target: 'y', seed: 3, ...settings },
      connectors: [{ connector_id: connector, keys: [file] }],
      benchmark_ids: [benchmark.id],
    }
    const ids = [await steps.training(wanted), await steps.training(wanted)]
    const [first, second] = [await steps.ended(`trainings/${ids[0]}`), await steps.ended(`trainings/${ids[1]}`)]
    assert.deepEqual([first.status, first.error], ['succeeded', undefined])
    assert.ok(first.metrics.length >= 10)
    assert.deepEqual(Object.keys(first.metrics[0]).sort(), [
      'step',
      'test_log_loss',
      'test_roc_auc',
      'total_steps',
      'train_log_loss',
    ])
    assert.deepEqual(second.metrics, first.metrics, 'one seed, one course')
    const digests = (training: { checkpoints: { sha256: string }[] }) =>
      training.checkpoints.map(({ sha256 }) => sha256)
    assert.ok(first.checkpoints.length > 1)
    assert.deepEqual(digests(second), digests(first), 'one seed, one model to the last bit')

    const best = first.checkpoints.at(-1)
    const listed = await steps.ask('GET', `trainings/${first.id}/checkpoints?limit=1000`)
    assert.equal(listed.data[0].id, best.id)
    const evaluation = await steps.ask('POST', 'evaluations', {
      benchmark_id: benchmark.id,
      checkpoint_id: best.id,
      gpu_count: 0,
    })
    const { result, status, error } = await steps.ended(`evaluations/${evaluation.id}`)
    assert.deepEqual([status, error], ['succeeded', undefined])
    assert.deepEqual(Object.keys(result).sort(), [...METRICS].sort())
    const truth = syntheticData(20_000, 6, score, 2)
    const known = evaluate(truth.labels, truth.probabilities).metrics.roc_auc!
    assert.ok(known - result.roc_auc < 0.005, `${result.roc_auc} of ${known}`)

    const order = 'order_by_metric.metric_name=roc_auc'
    const board = () => steps.ask('GET', `leaderboards?model_id=${data_model_id}&limit=1000&${order}`)
    await until(
      'the second training’s own evaluation is there',
      async () => (await board()).data[1]?.order_metric_value !== undefined,
    )
    const { data, count } = await board()
    assert.equal(count, first.checkpoints.length + second.checkpoints.length)
    assert.deepEqual([data[0].order_metric_value, data[1].order_metric_value], [result.roc_auc, result.roc_auc])
    assert.deepEqual(new Set([data[0].training.id, data[1].training.id]), new Set(ids))
    assert.equal(data[2].order_metric_value, undefined)
    const events = await steps.ask('GET', `trainings/${first.id}/events`)
    assert.deepEqual(
      events.data.map((event: { status: string }) => event.status),
      ['succeeded', 'running', 'queued', 'validating'],
    )
  })
}

test('metrics that the rows do not define are left out, with the reason', { skip: missing ?? false }, async () => {
  const [header, ...rows] = toCsv(syntheticData(500, 6, linearScore, 9))
    .trim()
    .split('\n')
  const positives = rows.filter((row) => row.endsWith(',1'))
  const Body = [header, ...positives, ''].join('\n')
  await store.client.send(new PutObjectCommand({ Bucket: 'data', Key: 'one-class/rows.csv', Body }))
  const training = await steps.training({
    connectors: [{ connector_id: await steps.connector('data', KEYS, 'in'), keys: ['logistic-regression-train.csv'] }],
  })
  const { checkpoints } = await steps.ended(`trainings/${training}`)
  const benchmark = await steps.ask('POST', 'benchmarks', {
    ...{ name: 'one class', description: '', task: 'classification', metrics: ['roc_auc', 'recall'] },
    connectors: [{ connector_id: await steps.connector('data', KEYS, 'one-class'), keys: [] }],
  })
  const wanted = { benchmark_id: benchmark.id, checkpoint_id: checkpoints.at(-1).id, gpu_count: 0 }
  const { id } = await steps.ask('POST', 'evaluations', wanted)
  const { status, result, error } = await steps.ended(`evaluations/${id}`)
  assert.deepEqual([status, Object.keys(result)], ['succeeded', ['recall']])
  assert.equal(error, 'roc_auc: All rows are of the positive class.')
})
