// Evaluations as a client sees them (contract 2.14, 3.4, 4.2.7); what they compute is tested on real data.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { type Person, type Service, startService } from '../support/service.ts'
import { seedCheckpoints, trainingSteps } from '../support/trainings.ts'

let service: Service
let admin: Person
let space: string
let dataDir: string
let steps: ReturnType<typeof trainingSteps>
let benchmark_id: string
let checkpoint_id: string

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'amphi-evaluations-'))
  service = await startService({ env: { DATA_DIR: dataDir } })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  steps = trainingSteps((...request) => admin.call(...request), space)
  const wanted = { name: 'b', description: '', task: 't', metrics: ['roc_auc'], connectors: [] }
  benchmark_id = (await steps.ask('POST', 'benchmarks', wanted)).id
  const [first] = await seedCheckpoints(service, space, await steps.training(), 1)
  checkpoint_id = first!
})
after(async () => {
  await service.close()
  await rm(dataDir, { recursive: true })
})

test('a new evaluation is queued, and its end is on the record', async () => {
  const { id, created_at, ...rest } = await steps.ask('POST', 'evaluations', {
    benchmark_id,
    checkpoint_id,
    gpu_count: 0,
  })
  assert.ok(created_at)
  assert.deepEqual(rest, { benchmark_id, checkpoint_id, gpu_count: 0, status: 'queued', created_by: 'ana' })
  const { status, error, result } = await steps.ended(`evaluations/${id}`)
  assert.deepEqual([status, result], ['failed', undefined])
  assert.equal(error, 'The file of the checkpoint is not in the checkpoint store')
  const { body } = await admin.call('GET', '/v1/evaluations?limit=1', undefined, { space })
  assert.equal(body.data[0].id, id)
})

test('GPUs without a cluster end in failed', async () => {
  const { id } = await steps.ask('POST', 'evaluations', { benchmark_id, checkpoint_id, gpu_count: 1 })
  assert.match((await steps.ended(`evaluations/${id}`)).error, /needs a cluster/)
})

for (const param of ['benchmark_id', 'checkpoint_id']) {
  test(`a ${param} that the space does not have is refused at once`, async () => {
    const body = { benchmark_id, checkpoint_id, gpu_count: 0, [param]: newId() }
    const reply = await admin.call('POST', steps.at('evaluations'), body)
    assert.deepEqual([reply.status, reply.body.error.code, reply.body.error.param], [400, 'invalid_reference', param])
  })
}

for (const param of ['benchmark_id', 'checkpoint_id', 'gpu_count']) {
  test(`${param} is required`, async () => {
    const body = { benchmark_id, checkpoint_id, gpu_count: 0, [param]: undefined }
    const reply = await admin.call('POST', steps.at('evaluations'), body)
    assert.deepEqual([reply.status, reply.body.error.param], [400, param])
  })
}

test('a benchmark that was used cannot be deleted from under its results', async () => {
  await steps.ask('POST', 'evaluations', { benchmark_id, checkpoint_id, gpu_count: 0 })
  const { status, body } = await admin.call('DELETE', steps.at(`benchmarks/${benchmark_id}`))
  assert.deepEqual([status, body.error.message], [409, 'An evaluation uses this benchmark'])
})
