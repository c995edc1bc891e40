// Checkpoints as a client sees them (contract 2.10, 4.2.4).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { type Person, type Service, startService } from '../support/service.ts'
import { seedCheckpoints, trainingSteps } from '../support/trainings.ts'

let service: Service
let admin: Person
let space: string
let steps: ReturnType<typeof trainingSteps>
let training: string
let ids: string[]

before(async () => {
  service = await startService({ env: { ROLE: 'api' } })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  steps = trainingSteps((...request) => admin.call(...request), space)
  training = await steps.training({ name: 'churn' })
  ids = await seedCheckpoints(service, space, training, 3)
  await seedCheckpoints(service, space, await steps.training(), 2)
})
after(() => service.close())

test('the list form names the checkpoint and its training, newest first', async () => {
  const page = await steps.ask('GET', `trainings/${training}/checkpoints?limit=2`)
  assert.deepEqual([page.count, page.has_more], [3, true])
  assert.deepEqual(page.data[0], { id: ids[2], name: 'churn step 3', training_id: training, training_name: 'churn' })
  const rest = await steps.ask('GET', `trainings/${training}/checkpoints?after=${page.data[1].id}`)
  assert.deepEqual([rest.data.length, rest.data[0].id], [1, ids[0]])
})

test('the same list is at /checkpoints, of one training or of all', async () => {
  assert.equal((await steps.ask('GET', 'checkpoints')).count, 5)
  const { body } = await admin.call('GET', `/v1/checkpoints?training_id=${training}&after=`, undefined, { space })
  assert.equal(body.count, 3)
  for (const none of [newId(), 'no-id']) {
    assert.equal((await steps.ask('GET', `checkpoints?training_id=${none}`)).count, 0, none)
  }
  assert.equal((await admin.call('GET', steps.at('checkpoints?after=x'))).body.error.code, 'invalid_cursor')
})

test('the full form stands in the training, the best one last, and by itself', async () => {
  const { checkpoints } = await steps.ask('GET', `trainings/${training}`)
  assert.deepEqual(
    checkpoints.map(({ id }: { id: string }) => id),
    ids,
  )
  const full = await steps.ask('GET', `checkpoints/${ids[2]}`)
  assert.deepEqual(full, checkpoints[2])
  const { created_at, data_model_id, ...rest } = full
  assert.ok(created_at && data_model_id)
  assert.deepEqual(rest, {
    _id: ids[2],
    id: ids[2],
    name: 'churn step 3',
    created_by: 'ana',
    space,
    training_id: training,
    training_name: 'churn',
    sha256: 'a'.repeat(64),
  })
})

test('a checkpoint of another space is not found', async () => {
  const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })
  const fresh = await service.signIn('ana', ['admins'])
  assert.equal((await fresh.call('GET', `/v1/spaces/${other.id}/checkpoints/${ids[0]}`)).status, 404)
  assert.equal((await fresh.call('GET', `/v1/spaces/${other.id}/checkpoints`)).body.count, 0)
})

test('an attempt that comes to the same checkpoints again adds none', async () => {
  const again = await seedCheckpoints(service, space, training, 3)
  assert.deepEqual(again, ids)
  assert.equal((await steps.ask('GET', 'leaderboards')).count, 5)
})
