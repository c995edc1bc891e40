// What webhooks tell about how trainings and evaluations ended (contract 2.22, 3.4, 6.1), and what follows from it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Person, type Service, startService, until } from '../support/service.ts'
import { seedCheckpoints, trainingSteps } from '../support/trainings.ts'

let service: Service
let admin: Person
let space: string
let steps: ReturnType<typeof trainingSteps>

before(async () => {
  service = await startService({ env: { ROLE: 'api' } })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  steps = trainingSteps((...request) => admin.call(...request), space)
})
after(() => service.close())

const send = (body: object) => admin.call('POST', '/v1/webhooks', body)
const aBenchmark = async (): Promise<string> => {
  const wanted = { name: 'b', description: '', task: 't', metrics: ['roc_auc'], connectors: [] }
  return (await steps.ask('POST', 'benchmarks', wanted)).id
}

/** An evaluation of a checkpoint that another engine has begun. */
async function aRunningEvaluation(checkpoint_id: string): Promise<string> {
  const wanted = { benchmark_id: await aBenchmark(), checkpoint_id, gpu_count: 0 }
  const { id } = await steps.ask('POST', 'evaluations', wanted)
  await send({ id, status: 'running' })
  return id
}

test('a training that is told to have succeeded has its best checkpoint evaluated by its benchmarks', async () => {
  const benchmark_ids = [await aBenchmark(), await aBenchmark()]
  const id = await steps.training({ benchmark_ids })
  const best = (await seedCheckpoints(service, space, id, 3)).at(-1)
  await service.process.system`update trainings set status = 'running' where id = ${id}`
  assert.equal((await send({ id, status: 'succeeded' })).status, 200)
  const { data } = await steps.ask('GET', 'evaluations')
  const wanted = benchmark_ids.map((benchmark_id) => ({ benchmark_id, checkpoint_id: best, status: 'queued' }))
  const made: typeof wanted = data
    .filter(({ checkpoint_id }: { checkpoint_id: string }) => checkpoint_id === best)
    .map(({ benchmark_id, checkpoint_id, status }: (typeof wanted)[number]) => ({
      benchmark_id,
      checkpoint_id,
      status,
    }))
  assert.deepEqual(made.reverse(), wanted)
})

test('a result too large for an average is refused, and a large one is not', async () => {
  const [checkpoint] = await seedCheckpoints(service, space, await steps.training(), 1)
  for (const at of [1, 2]) {
    const id = await aRunningEvaluation(checkpoint!)
    const refused = await send({ id, status: 'succeeded', payload: { result: { roc_auc: 1.7e308 } } })
    assert.deepEqual([refused.status, refused.body.error.param], [400, 'payload'])
    const taken = await send({ id, status: 'succeeded', payload: { result: { roc_auc: -1e100 } } })
    assert.equal(taken.status, 200, `result ${at}`)
    assert.equal((await steps.ask('GET', `evaluations/${id}`)).status, 'succeeded')
  }
})

test('a result that comes while its training is deleted does not get in the way of that', async () => {
  const { system } = service.process
  const training = await steps.training()
  const [checkpoint] = await seedCheckpoints(service, space, training, 1)
  const id = await aRunningEvaluation(checkpoint!)
  const waiting = (count: number) =>
    until(`${count} wait for the checkpoint`, async () => {
      const [row] = await system<{ count: number }[]>`
        select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
        where datname = current_database() and not granted`
      return row!.count === count
    })
  // Whoever holds the checkpoint lets the deletion and the result come in this order, and then both go on.
  const [removed, told] = await system.begin(async (sql) => {
    await sql`select from checkpoints where id = ${checkpoint!} for update`
    const removing = admin.call('DELETE', steps.at(`trainings/${training}`))
    await waiting(1)
    const telling = send({ id, status: 'succeeded', payload: { result: { roc_auc: 0.5 } } })
    await waiting(2)
    return [{ reply: removing }, { reply: telling }] as const
  })
  assert.deepEqual([(await removed.reply).status, (await told.reply).status], [204, 200])
})
