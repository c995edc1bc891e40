// Leaderboards as a client sees them (contract 2.18, 4.2.10). Results come in through the webhook receiver.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Person, type Service, startService } from '../support/service.ts'
import { seedCheckpoints, trainingSteps } from '../support/trainings.ts'

let service: Service
let admin: Person
let space: string
let steps: ReturnType<typeof trainingSteps>
let trainings: string[]
let a: string[]
let b: string[]
let benchmarks: string[]

before(async () => {
  service = await startService({ env: { ROLE: 'api' } })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  steps = trainingSteps((...request) => admin.call(...request), space)
  trainings = [await steps.training({ name: 'churn' }), await steps.training({ name: 'fraud' })]
  a = await seedCheckpoints(service, space, trainings[0]!, 3)
  b = await seedCheckpoints(service, space, trainings[1]!, 2)
  const wanted = { name: 'b', description: '', task: 't', metrics: ['roc_auc', 'log_loss'], connectors: [] }
  benchmarks = []
  for (let at = 0; at < 2; at++) benchmarks.push((await steps.ask('POST', 'benchmarks', wanted)).id)
  await score(a[0]!, 0, { roc_auc: 0.7, log_loss: 0.5 })
  await score(a[0]!, 1, { roc_auc: 0.9 })
  await score(a[1]!, 0, { roc_auc: 0.6 })
  await score(b[0]!, 0, { roc_auc: 0.9 })
  await score(b[1]!, 1, { roc_auc: 0.75 })
})
after(() => service.close())

async function score(checkpoint_id: string, benchmark: number, result: object): Promise<void> {
  const body = { benchmark_id: benchmarks[benchmark], checkpoint_id, gpu_count: 0 }
  const { id } = await steps.ask('POST', 'evaluations', body)
  for (const event of [{ status: 'running' }, { status: 'succeeded', payload: { result } }]) {
    assert.equal((await admin.call('POST', '/v1/webhooks', { id, ...event })).status, 200)
  }
  assert.equal((await steps.ask('GET', `evaluations/${id}`)).status, 'succeeded')
}

interface Entry {
  id: string
  order_metric_value?: number
  evaluations: { benchmark_id: string; result?: Record<string, number> }[]
}
const board = async (query = ''): Promise<{ count: number; has_more: boolean; data: Entry[] }> =>
  steps.ask('GET', `leaderboards?${query}`)
const order = async (query: string) => (await board(query)).data.map(({ id }) => id)
const AUC = 'order_by_metric.metric_name=roc_auc'

describe('order', () => {
  test('without a metric the newest come first, and none has a value', async () => {
    const { data, count } = await board()
    assert.deepEqual([data.map(({ id }) => id), count], [[b[1], b[0], a[2], a[1], a[0]], 5])
    assert.ok(data.every((entry) => !('order_metric_value' in entry)))
  })

  test('by the average over all benchmarks, the best first and those without a value last', async () => {
    const { data } = await board(AUC)
    assert.deepEqual(
      data.map(({ id, order_metric_value }) => [id, order_metric_value]),
      [
        [b[0], 0.9],
        [a[0], 0.8],
        [b[1], 0.75],
        [a[1], 0.6],
        [a[2], undefined],
      ],
    )
  })

  test('ascending, those without a value still come last', async () => {
    assert.deepEqual(await order(`${AUC}&order_by_metric.direction=asc`), [a[1], b[1], a[0], b[0], a[2]])
  })

  test('by one benchmark, the others count for nothing', async () => {
    const query = `${AUC}&order_by_metric.benchmark_id=${benchmarks[0]}`
    assert.deepEqual(await order(query), [b[0], a[0], a[1], b[1], a[2]])
  })

  for (const direction of ['asc', 'desc']) {
    test(`page by page, ${direction}, is the whole in its order`, async () => {
      const query = `${AUC}&order_by_metric.direction=${direction}`
      const whole = await order(query)
      const walked: string[] = []
      for (let more = true; more; ) {
        const page = await board(`${query}&limit=1&after=${walked.at(-1) ?? ''}`)
        assert.equal(page.count, 5)
        walked.push(...page.data.map(({ id }) => id))
        more = page.has_more
      }
      assert.deepEqual(walked, whole)
    })
  }

  test('a newer result takes the place of an older one of the same benchmark', async () => {
    await score(a[1]!, 0, { roc_auc: 0.95 })
    assert.deepEqual((await board(AUC)).data[0]!.order_metric_value, 0.95)
    await score(a[1]!, 0, { roc_auc: 0.6 })
    assert.deepEqual((await order(AUC))[3], a[1])
  })
})

describe('filters', () => {
  const FILTERS: Record<string, [() => string, () => string[]]> = {
    'one training': [() => `trainings=${trainings[0]}`, () => [a[2]!, a[1]!, a[0]!]],
    'two trainings': [() => `trainings=${trainings[0]}&trainings=${trainings[1]}&limit=1`, () => [b[1]!]],
    'a part of the name': [() => 'name=FRAUD', () => [b[1]!, b[0]!]],
    'a benchmark': [() => `benchmarks=${benchmarks[1]}`, () => [b[1]!, a[0]!]],
    'a benchmark, in order': [() => `benchmarks=${benchmarks[1]}&${AUC}`, () => [a[0]!, b[1]!]],
    'the future': [() => 'start_date=2999-01-01T00:00:00Z', () => []],
    'the past': [() => 'end_date=2001-01-01T00:00:00Z', () => []],
    'no such model': [() => `model_id=${trainings[0]}`, () => []],
  }
  for (const [what, [query, wanted]] of Object.entries(FILTERS)) {
    test(what, async () => assert.deepEqual(await order(query()), wanted()))
  }

  test('count tells how many match, on each page alike', async () => {
    assert.equal((await board(`trainings=${trainings[0]}&limit=1`)).count, 3)
    assert.equal((await board(`trainings=${trainings[0]}&limit=1&after=${a[1]}`)).count, 3)
  })

  test('evaluations shown are those of the benchmarks asked for', async () => {
    const [entry] = (await board(`benchmarks=${benchmarks[1]}&trainings=${trainings[0]}`)).data
    assert.deepEqual(
      entry!.evaluations.map(({ benchmark_id, result }) => [benchmark_id, result]),
      [[benchmarks[1], { roc_auc: 0.9 }]],
    )
  })

  const REFUSED = [
    'order_by_metric.metric_name=luck',
    'order_by_metric.direction=up',
    'start_date=monday',
    'limit=0',
    'after=x',
  ]
  for (const query of REFUSED) {
    test(`${query} is refused`, async () =>
      assert.equal((await admin.call('GET', steps.at(`leaderboards?${query}`))).status, 400))
  }
})

test('an entry shows its training, and a deleted training takes its entries and turns no page away', async () => {
  const training = await steps.training({ name: 'short-lived' })
  const [gone] = await seedCheckpoints(service, space, training, 1)
  await score(gone!, 0, { roc_auc: 0.99 })
  const [top] = (await board(`${AUC}&limit=1`)).data
  assert.deepEqual(
    [top!.id, (top as unknown as { training: object }).training],
    [gone, { id: training, name: 'short-lived' }],
  )
  assert.equal((await admin.call('DELETE', steps.at(`trainings/${training}`))).status, 204)
  const next = await board(`${AUC}&limit=1&after=${gone}`)
  assert.deepEqual([next.data[0]!.id, next.count], [b[0], 5])
  assert.equal((await board(`${AUC}&limit=1`)).data[0]!.id, b[0])
})
