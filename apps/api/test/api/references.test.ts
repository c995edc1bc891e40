// What refers to a record keeps it, and whoever comes too late is told so (contract 4.0.2).
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startRefusingStore } from '../support/refusing-store.ts'
import { type Person, type Service, startService, until } from '../support/service.ts'
import { trainingSteps } from '../support/trainings.ts'

const KEYS = { accessKeyId: 'id', secretAccessKey: 'secret' }

let store: Awaited<ReturnType<typeof startRefusingStore>>
let service: Service
let admin: Person
let dataDir: string
let steps: ReturnType<typeof trainingSteps>

before(async () => {
  store = await startRefusingStore()
  dataDir = await mkdtemp(join(tmpdir(), 'amphi-references-'))
  service = await startService({ env: { AWS_ENDPOINT_URL_S3: store.endpoint, DATA_DIR: dataDir } })
  admin = await service.signIn('ana', ['admins'])
  steps = trainingSteps((...request) => admin.call(...request), await service.firstSpace())
})
after(async () => {
  await service.close()
  store.stop()
  await rm(dataDir, { recursive: true })
})

test('what a training names cannot be deleted from under it, and the refusal says what keeps it', async () => {
  const connector_id = await steps.connector('empty', KEYS)
  const data_model_id = await steps.dataModel()
  const wanted = { name: 'b', description: '', task: 't', metrics: ['roc_auc'], connectors: [] }
  const benchmark_id = (await steps.ask('POST', 'benchmarks', wanted)).id
  const id = await steps.training({ data_model_id, connectors: [{ connector_id, keys: [] }] })
  await steps.ask('PUT', `trainings/${id}`, { benchmark_ids: [benchmark_id] })
  for (const [path, noun] of [
    [`connectors/${connector_id}`, 'connector'],
    [`data-models/${data_model_id}`, 'data model'],
    [`benchmarks/${benchmark_id}`, 'benchmark'],
  ] as const) {
    const { status, body } = await admin.call('DELETE', steps.at(path))
    assert.deepEqual([status, body.error.message], [409, `A training uses this ${noun}`])
  }
})

test('a training whose data model is deleted while it is made is not made, and says why', async () => {
  const data_model_id = await steps.dataModel()
  const { system } = service.process
  const waiting = () => system`
    select from pg_locks l join pg_stat_activity a using (pid)
    where not l.granted and l.locktype = 'transactionid' and a.datname = current_database()`
  const given = { name: 'late', architecture: 'a', data_model_id, gpu_count: 0, configuration: {}, connectors: [] }
  const { reply } = await system.begin(async (sql) => {
    await sql`delete from data_models where id = ${data_model_id}`
    const reply = admin.call('POST', steps.at('trainings'), given)
    await until('the training waits for what becomes of its data model', async () => (await waiting()).length > 0)
    return { reply }
  })
  const { status, body } = await reply
  assert.deepEqual([status, body.error.message], [409, 'A record that this one refers to was deleted meanwhile'])
})
