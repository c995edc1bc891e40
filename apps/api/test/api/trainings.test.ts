// Trainings as a client sees them (contract 2.22, 2.27, 3.3, 4.2.13); how they run on real data is tested apart.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { SpaceGrant } from '../../src/base/grant.ts'
import { newId } from '../../src/base/ids.ts'
import { jobs } from '../../src/storage/jobs.ts'
import { startRefusingStore } from '../support/refusing-store.ts'
import { type Person, type Service, startService, until } from '../support/service.ts'
import { trainingSteps } from '../support/trainings.ts'

const KEYS = { accessKeyId: 'id', secretAccessKey: 'secret' }

let store: Awaited<ReturnType<typeof startRefusingStore>>
let service: Service
let admin: Person
let space: string
let dataDir: string
let silent: string
let steps: ReturnType<typeof trainingSteps>

before(async () => {
  store = await startRefusingStore()
  dataDir = await mkdtemp(join(tmpdir(), 'amphi-trainings-'))
  service = await startService({ env: { AWS_ENDPOINT_URL_S3: store.endpoint, DATA_DIR: dataDir } })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  steps = trainingSteps((...request) => admin.call(...request), space)
  silent = await steps.connector('silent', KEYS)
})
after(async () => {
  await service.close()
  store.stop()
  await rm(dataDir, { recursive: true })
})

/** A training whose store never answers, so that it stays in validation. */
const aSilentTraining = (changes: object = {}) =>
  steps.training({ connectors: [{ connector_id: silent, keys: ['a.csv'] }], ...changes })
const states = async (id: string): Promise<string[]> =>
  (await steps.ask('GET', `trainings/${id}/events?limit=100`)).data.map(({ status }: { status: string }) => status)

describe('create, get, list, delete', () => {
  test('a new training is validating, with every field it was given', async () => {
    const connector_id = silent
    const given = {
      name: 'churn',
      architecture: 'gradient-boosted-trees',
      data_model_id: await steps.dataModel(),
      gpu_count: 0,
      configuration: { target: 'y', note: { kept: [1, null, 'as given'] } },
      connectors: [{ connector_id, keys: ['a.csv'] }],
    }
    const { id, created_at, ...rest } = await steps.ask('POST', 'trainings', given)
    assert.deepEqual(rest, { ...given, benchmark_ids: [], checkpoints: [], metrics: [], status: 'validating' })
    assert.ok(created_at)
    const { body } = await admin.call('GET', '/v1/trainings?pageSize=1', undefined, { space })
    assert.deepEqual([body.data.length, body.data[0].id, body.has_more], [1, id, body.count > 1])
  })

  test('pages are told by pageSize, and by page_size too', async () => {
    for (let at = 0; at < 3; at++) await steps.training()
    const ids = async (query: string) =>
      (await steps.ask('GET', `trainings?${query}`)).data.map(({ id }: { id: string }) => id)
    const [first, second] = await ids('pageSize=2')
    assert.deepEqual(await ids('page_size=1&page=2'), [second])
    assert.deepEqual(await ids('pageSize=1'), [first])
    for (const query of ['pageSize=0', 'page_size=1001', 'page=0']) {
      assert.equal((await admin.call('GET', steps.at(`trainings?${query}`))).status, 400, query)
    }
  })

  const REQUIRED = ['name', 'architecture', 'data_model_id', 'gpu_count', 'configuration', 'connectors']
  for (const field of REQUIRED) {
    test(`${field} is required`, async () => {
      const body = {
        name: 'x',
        architecture: 'x',
        data_model_id: newId(),
        gpu_count: 0,
        configuration: {},
        connectors: [],
      }
      const reply = await admin.call('POST', steps.at('trainings'), { ...body, [field]: undefined })
      assert.deepEqual([reply.status, reply.body.error.param], [400, field])
    })
  }

  const UNKNOWN: Record<string, object> = {
    data_model_id: { data_model_id: newId() },
    connectors: { connectors: [{ connector_id: newId(), keys: [] }] },
    benchmark_ids: { benchmark_ids: ['not an id'] },
  }
  for (const [param, changes] of Object.entries(UNKNOWN)) {
    test(`${param} that the space does not have is refused at once`, async () => {
      const data_model_id = await steps.dataModel()
      const body = {
        name: 'x',
        architecture: 'x',
        data_model_id,
        gpu_count: 0,
        configuration: {},
        connectors: [],
        ...changes,
      }
      const reply = await admin.call('POST', steps.at('trainings'), body)
      assert.deepEqual([reply.status, reply.body.error.code, reply.body.error.param], [400, 'invalid_reference', param])
    })
  }

  test('a deleted training is gone, whatever it was doing, and so are its events', async () => {
    const id = await aSilentTraining()
    assert.equal((await admin.call('DELETE', steps.at(`trainings/${id}`))).status, 204)
    for (const path of ['', '/events', '/events/stream', '/checkpoints']) {
      assert.equal((await admin.call('GET', steps.at(`trainings/${id}${path}`))).status, 404, path)
    }
  })

  test('a training of another space is not found', async () => {
    const id = await steps.training()
    const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })
    const fresh = await service.signIn('ana', ['admins'])
    for (const path of ['', '/events', '/events/stream', '/checkpoints']) {
      assert.equal((await fresh.call('GET', `/v1/spaces/${other.id}/trainings/${id}${path}`)).status, 404, path)
    }
    assert.equal((await fresh.call('POST', `/v1/spaces/${other.id}/trainings/${id}/cancel`)).status, 404)
  })
})

describe('what only the engine can tell ends in failed, with the reason', () => {
  const connectorTo = (bucket: string, keys: string[]) => async () => ({
    connectors: [{ connector_id: await steps.connector(bucket, KEYS), keys }],
  })
  const ENDS: Record<string, [() => Promise<Record<string, unknown>>, RegExp]> = {
    'an architecture that is not offered': [async () => ({ architecture: 'gpt' }), /gpt is not offered/],
    'GPUs without a cluster': [async () => ({ gpu_count: 2 }), /needs a cluster/],
    'no target': [async () => ({ configuration: {} }), /configuration is not valid: target|target/],
    'no connector': [async () => ({}), /no files to read/],
    'wrong keys': [connectorTo('wrong-keys', []), /does not accept these keys/],
    'a missing bucket': [connectorTo('nowhere', []), /There is no bucket nowhere/],
    'an empty bucket': [connectorTo('empty', []), /There are no files below empty/],
    'a missing file': [connectorTo('nowhere', ['a.csv']), /There is no file a\.csv/],
  }
  for (const [what, [changes, reason]] of Object.entries(ENDS)) {
    test(what, async () => {
      const id = await steps.training(await changes())
      const { status, error } = await steps.ended(`trainings/${id}`)
      assert.equal(status, 'failed')
      assert.match(error, reason)
      const [last] = (await steps.ask('GET', `trainings/${id}/events`)).data
      assert.deepEqual([last.status, last.reason], ['failed', error])
    })
  }
})

describe('update', () => {
  test('only what is given changes, and a connector joins or replaces its entry', async () => {
    const id = await aSilentTraining({ name: 'old' })
    const [{ connector_id }] = (await steps.ask('GET', `trainings/${id}`)).connectors
    const other = await steps.connector('empty', KEYS)
    await steps.ask('PUT', `trainings/${id}`, { connector: { connector_id: other, keys: ['b.csv'] } })
    await steps.ask('PUT', `trainings/${id}`, { connector: { connector_id, keys: ['c.csv'] } })
    const { name, connectors, updated_at } = await steps.ask('PUT', `trainings/${id}`, { name: 'new' })
    assert.ok(updated_at)
    assert.deepEqual(
      [name, connectors],
      [
        'new',
        [
          { connector_id, keys: ['c.csv'] },
          { connector_id: other, keys: ['b.csv'] },
        ],
      ],
    )
  })

  test('a change while it is validated is what gets validated', async () => {
    const id = await aSilentTraining()
    await steps.ask('PUT', `trainings/${id}`, { architecture: 'gpt' })
    const { error } = await steps.ended(`trainings/${id}`)
    assert.match(error, /gpt is not offered/)
  })

  test('once it has ended, its work stays as it was and its name may still change', async () => {
    const id = await steps.training()
    await steps.ended(`trainings/${id}`)
    for (const changes of [{ architecture: 'x' }, { configuration: {} }]) {
      const { status, body } = await admin.call('PUT', steps.at(`trainings/${id}`), changes)
      assert.deepEqual([status, body.error.code], [409, 'conflict'])
    }
    assert.equal((await steps.ask('PUT', `trainings/${id}`, { name: 'renamed' })).name, 'renamed')
  })
})

describe('cancel', () => {
  test('what has not begun is cancelled at once, and by way of cancelling', async () => {
    const id = await aSilentTraining()
    assert.equal((await steps.ask('POST', `trainings/${id}/cancel`)).status, 'cancelled')
    assert.deepEqual(await states(id), ['cancelled', 'cancelling', 'validating'])
  })

  test('what has ended cannot be cancelled', async () => {
    const id = await aSilentTraining()
    await steps.ask('POST', `trainings/${id}/cancel`)
    const { status, body } = await admin.call('POST', steps.at(`trainings/${id}/cancel`))
    assert.deepEqual([status, body.error.code], [409, 'conflict'])
  })

  test('twenty at once end in one cancellation', async () => {
    const id = await aSilentTraining()
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => admin.call('POST', steps.at(`trainings/${id}/cancel`))),
    )
    assert.equal(replies.filter(({ status }) => status === 200).length, 1)
    assert.deepEqual(await states(id), ['cancelled', 'cancelling', 'validating'])
  })

  test('one whose process died for the last time while it was to stop is cancelled', async () => {
    const id = await aSilentTraining()
    const grant = { tenantId: 'acme', userId: 'ana', requestId: 'r', spaceId: space } as SpaceGrant
    await service.process.system.begin(async (sql) => {
      await sql`update trainings set status = 'cancelling', attempt = 3 where id = ${id}`
      await jobs.enqueue(sql, grant, 'trainings.run', { id, revision: 0 })
      await sql`update jobs set attempt = 3 where name = 'trainings.run' and payload->>'id' = ${id}`
    })
    assert.equal((await steps.ended(`trainings/${id}`, 20_000)).status, 'cancelled')
  })
})

describe('events', () => {
  test('are listed newest first, page by page', async () => {
    const id = await aSilentTraining()
    await steps.ask('POST', `trainings/${id}/cancel`)
    const first = await steps.ask('GET', `trainings/${id}/events?limit=2`)
    assert.deepEqual([first.count, first.has_more, first.data[0].attempt], [3, true, 0])
    const rest = await steps.ask('GET', `trainings/${id}/events?limit=2&after=${first.data[1].id}`)
    assert.deepEqual([rest.data.length, rest.data[0].status, rest.has_more], [1, 'validating', false])
    assert.equal(
      (await admin.call('GET', steps.at(`trainings/${id}/events?after=x`))).body.error.code,
      'invalid_cursor',
    )
  })

  test('can be followed as they happen, until the last', async () => {
    const id = await aSilentTraining()
    const following = admin.call('GET', steps.at(`trainings/${id}/events/stream`))
    await steps.ask('POST', `trainings/${id}/cancel`)
    const { headers, text } = await following
    assert.match(String(headers['content-type']), /^text\/event-stream/)
    const told = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!).status)
    assert.deepEqual(told, ['validating', 'cancelling', 'cancelled'])
  })

  test('a follower does not keep the service from stopping', async () => {
    const own = await startService({ env: { AWS_ENDPOINT_URL_S3: store.endpoint, DATA_DIR: dataDir } })
    const person = await own.signIn('ana', ['admins'])
    const there = trainingSteps((...request) => person.call(...request), await own.firstSpace())
    const connector_id = await there.connector('silent', KEYS)
    const id = await there.training({ connectors: [{ connector_id, keys: ['a.csv'] }] })
    const following = person.call('GET', there.at(`trainings/${id}/events/stream`))
    await until('the training is there', async () => (await there.ask('GET', `trainings/${id}`)).id === id)
    await own.close()
    assert.match((await following).text, /validating/)
  })
})

test('every decision about a training is in the audit trail', async () => {
  const id = await aSilentTraining()
  await steps.ask('PUT', `trainings/${id}`, { name: 'other' })
  await steps.ask('POST', `trainings/${id}/cancel`)
  await admin.call('DELETE', steps.at(`trainings/${id}`))
  const { body } = await admin.call('GET', '/v1/audit?limit=1000')
  const actions = body.data.filter((entry: { resource_id: string }) => entry.resource_id === id)
  assert.deepEqual(actions.map(({ action }: { action: string }) => action).sort(), [
    'trainings.cancel',
    'trainings.create',
    'trainings.delete',
    'trainings.update',
  ])
})
