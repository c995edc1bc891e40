// The webhook receiver (contract 3.9, 4.2.15, 6.1): three ways of proof, in any order, as often as the sender likes.
import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { newJobToken } from '../../src/resources/webhooks/job-token.ts'
import { type Person, type Service, startService, toReply } from '../support/service.ts'
import { seedCheckpoints, trainingSteps } from '../support/trainings.ts'

const KEY = randomBytes(24)

let service: Service
let admin: Person
let space: string
let steps: ReturnType<typeof trainingSteps>
let checkpoint: string

before(async () => {
  const env = { ROLE: 'api', WEBHOOK_SECRET: `whsec_${KEY.toString('base64')}`, TENANT_ID: 'acme' }
  service = await startService({ env })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  steps = trainingSteps((...request) => admin.call(...request), space)
  const [first] = await seedCheckpoints(service, space, await steps.training(), 1)
  checkpoint = first!
})
after(() => service.close())

const send = async (body: unknown, headers: Record<string, string> = {}) =>
  toReply(
    await service.app.inject({
      method: 'POST',
      url: '/v1/webhooks',
      headers: { 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  )
const bearing = (token: string) => ({ authorization: `Bearer ${token}` })
const asAdmin = (body: unknown) => send(body, bearing(admin.token))
const statusOf = async (training: string) => (await steps.ask('GET', `trainings/${training}`)).status

function signed(text: string, { key = KEY, at = Date.now(), id = 'msg_1' } = {}): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1a,zzz v1,${signature}` }
}

/** A training that runs, as far as its record is concerned, and the token it was started with. */
async function aRunningTraining(lifeSeconds = 3600): Promise<{ id: string; token: string }> {
  const id = await steps.training()
  const { token, hash } = newJobToken()
  const { system } = service.process
  await system`
    update trainings set status = 'running', attempt = 1, token_hash = ${hash},
      token_expires_at = now() + make_interval(secs => ${lifeSeconds}) where id = ${id}`
  return { id, token }
}

describe('proof', () => {
  test('without any, or with one that is nobody’s, it is 401', async () => {
    const forged = newJobToken().token
    for (const headers of [
      {},
      bearing('nonsense'),
      bearing('amphi_nonsense'),
      bearing(forged),
      { authorization: 'Basic x' },
    ]) {
      const { status, body } = await send({ id: checkpoint }, headers)
      assert.deepEqual([status, body.error.code], [401, 'unauthenticated'], JSON.stringify(headers))
    }
  })

  test('a bearer needs webhooks:create in the space of the entity', async () => {
    for (const [name, permissions, wanted] of [
      ['hooks', ['webhooks:create'], 200],
      ['others', ['trainings:update'], 403],
    ] as const) {
      await admin.call('POST', '/v1/seats', { name, spaces: [space], permissions })
      const person = await service.signIn('carol', [name])
      assert.equal((await send({ id: checkpoint }, bearing(person.token))).status, wanted, name)
    }
  })

  test('an unknown entity and another tenant’s are the same 404', async () => {
    const stranger = await service.bearing('eve', [`${space}:admins`], 'globex')
    for (const [id, token] of [
      [newId(), admin.token],
      ['no id', admin.token],
      [checkpoint, stranger.token],
    ] as const) {
      const { status, body } = await send({ id }, bearing(token))
      assert.deepEqual([status, body.error.code], [404, 'not_found'])
    }
  })

  test('a job token speaks for its own job, and for nothing else', async () => {
    const { id, token } = await aRunningTraining()
    assert.equal((await send({ id: checkpoint }, bearing(token))).status, 403)
    assert.equal((await send({ id, status: 'failed', payload: { error: 'no luck' } }, bearing(token))).status, 200)
    const { status, error } = await steps.ask('GET', `trainings/${id}`)
    assert.deepEqual([status, error], ['failed', 'no luck'])
    assert.equal((await send({ id, status: 'succeeded' }, bearing(token))).status, 401, 'its job has ended')
    const reply = await service.app.inject({ url: steps.at(`trainings/${id}`), headers: bearing(token) })
    assert.equal(reply.statusCode, 401, 'it opens nothing else')
  })

  test('a job token expires', async () => {
    const { id, token } = await aRunningTraining(-1)
    assert.equal((await send({ id, status: 'failed' }, bearing(token))).status, 401)
  })

  test('a signature over the very bytes is enough', async () => {
    const text = `{ "id":"${checkpoint}",\n "event" : "updated" }`
    assert.deepEqual((await send(text, signed(text))).body, { id: checkpoint })
    const unknown = JSON.stringify({ id: newId() })
    assert.equal((await send(unknown, signed(unknown))).status, 404)
  })

  const FORGED: Record<string, (text: string) => Record<string, string>> = {
    'by another key': (text) => signed(text, { key: randomBytes(24) }),
    'over another body': (text) => signed(`${text} `),
    'from six minutes ago': (text) => signed(text, { at: Date.now() - 360_000 }),
    'from six minutes ahead': (text) => signed(text, { at: Date.now() + 360_000 }),
    'under another id': (text) => ({ ...signed(text), 'webhook-id': 'msg_2' }),
    'without a time': (text) => ({ ...signed(text), 'webhook-timestamp': '' }),
  }
  for (const [what, forge] of Object.entries(FORGED)) {
    test(`a signature ${what} is refused`, async () => {
      const text = JSON.stringify({ id: checkpoint })
      assert.equal((await send(text, forge(text))).status, 401)
    })
  }

  test('a refused signature is not made good by a bearer token', async () => {
    const text = JSON.stringify({ id: checkpoint })
    const headers = { ...signed(text, { key: randomBytes(24) }), ...bearing(admin.token) }
    assert.equal((await send(text, headers)).status, 401)
  })
})

describe('events', () => {
  test('the newest is kept on the checkpoint, whatever the order they come in', async () => {
    const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`
    const event = (minute: number) => ({
      id: checkpoint,
      event: 'updated',
      name: `at ${minute}`,
      timestamp: at(minute),
    })
    await service.process.system`update checkpoints set webhook_event_at = null where id = ${checkpoint}`
    for (const minute of [2, 1, 3, 3, 2]) assert.equal((await asAdmin(event(minute))).status, 200)
    assert.deepEqual((await steps.ask('GET', `checkpoints/${checkpoint}`)).webhook_event, event(3))
    const [listed] = (await steps.ask('GET', 'checkpoints')).data
    assert.deepEqual(listed.webhook_event, event(3))
  })

  test('a status the training can take up next is taken up, with an event of its own', async () => {
    const { id } = await aRunningTraining()
    await asAdmin({ id, status: 'succeeded' })
    assert.equal(await statusOf(id), 'succeeded')
    const [last] = (await steps.ask('GET', `trainings/${id}/events`)).data
    assert.deepEqual([last.status, last.attempt], ['succeeded', 1])
  })

  for (const status of ['validating', 'queued', 'cancelled', 'exploded', '']) {
    test(`a running training does not take up "${status}"`, async () => {
      const { id } = await aRunningTraining()
      assert.equal((await asAdmin({ id, status })).status, 200)
      assert.equal(await statusOf(id), 'running')
    })
  }

  test('what has ended stays ended', async () => {
    const { id } = await aRunningTraining()
    await asAdmin({ id, status: 'failed' })
    await asAdmin({ id, status: 'running' })
    await asAdmin({ id, status: 'succeeded' })
    assert.equal(await statusOf(id), 'failed')
  })

  test('an older event does not undo a newer one', async () => {
    const { id } = await aRunningTraining()
    await asAdmin({ id, event: 'progress', timestamp: '2026-01-02T00:00:00Z' })
    await asAdmin({ id, status: 'failed', timestamp: '2026-01-01T00:00:00Z' })
    assert.equal(await statusOf(id), 'running')
  })

  test('a signed event that is sent again does not replace a newer one', async () => {
    const { id } = await aRunningTraining()
    const text = JSON.stringify({ id, status: 'failed' })
    const old = signed(text, { at: Date.now() - 60_000 })
    const newer = JSON.stringify({ id, event: 'progress' })
    assert.equal((await send(newer, signed(newer))).status, 200)
    assert.equal((await send(text, old)).status, 200)
    assert.equal(await statusOf(id), 'running')
  })

  test('of two events in one second both count, and the same one counts once', async () => {
    const { id } = await aRunningTraining()
    const timestamp = '2026-01-02T00:00:00Z'
    await asAdmin({ id, event: 'progress', timestamp })
    await asAdmin({ id, status: 'cancelling', timestamp })
    assert.equal(await statusOf(id), 'cancelling')
    await service.process.system`update trainings set status = 'running' where id = ${id}`
    await asAdmin({ id, status: 'cancelling', timestamp })
    assert.equal(await statusOf(id), 'running')
  })

  test('an event from far ahead is refused, and one from a clock that is a little fast is not', async () => {
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const { status, body } = await asAdmin({ id: checkpoint, timestamp: at(6) })
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'invalid_request', 'timestamp'])
    const { id } = await aRunningTraining()
    assert.equal((await asAdmin({ id, status: 'failed', timestamp: at(4) })).status, 200)
    assert.equal(await statusOf(id), 'failed')
  })

  test('a training that does not run is cancelled at once when its cancelling is told', async () => {
    const id = await steps.training()
    await asAdmin({ id, status: 'cancelling' })
    assert.equal(await statusOf(id), 'cancelled')
  })

  test('a connector takes up what follows', async () => {
    const id = await steps.connector('any', { accessKeyId: 'id', secretAccessKey: 'secret' })
    const connector = async () => (await steps.ask('GET', `connectors/${id}`)) as { status: string; error?: string }
    await asAdmin({ id, type: 'aws-s3', status: 'active' })
    assert.equal((await connector()).status, 'active')
    await asAdmin({ id, type: 'aws-s3', status: 'error' })
    assert.equal((await connector()).status, 'active', 'an active connector is scanned before it fails')
    await asAdmin({ id, type: 'aws-s3', status: 'scanning' })
    assert.equal((await connector()).status, 'active', 'a scan is begun by asking for one')
  })

  const REFUSED: Record<string, [object, string]> = {
    'no id': [{}, 'id'],
    'a time that is none': [{ id: 'x', timestamp: 'yesterday' }, 'timestamp'],
    'a field nobody knows': [{ id: 'x', colour: 'red' }, 'colour'],
    'a payload that is no object': [{ id: 'x', payload: [] }, 'payload'],
  }
  for (const [what, [body, param]] of Object.entries(REFUSED)) {
    test(`${what} is refused, naming ${param}`, async () => {
      const reply = await asAdmin(body)
      assert.deepEqual([reply.status, reply.body.error.param], [400, param])
    })
  }
})
