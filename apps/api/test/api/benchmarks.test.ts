// Benchmarks as a client sees them (contract 2.8, 4.2.1).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { startRefusingStore } from '../support/refusing-store.ts'
import { type Person, type Service, startService } from '../support/service.ts'

const METRICS = ['accuracy', 'f1', 'precision', 'recall', 'roc_auc', 'log_loss', 'ks', 'gini']

let store: Awaited<ReturnType<typeof startRefusingStore>>
let service: Service
let admin: Person
let space: string
let first: string
let second: string

before(async () => {
  store = await startRefusingStore()
  service = await startService({ env: { AWS_ENDPOINT_URL_S3: store.endpoint } })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  first = await aConnector(space)
  second = await aConnector(space)
})
after(async () => {
  await service.close()
  store.stop()
})

const at = (path = '') => `/v1/spaces/${space}/benchmarks${path}`
const aConnector = async (inSpace: string, person = admin): Promise<string> => {
  const s3 = { bucket: 'empty', region: 'us-east-1', access_key_id: 'id', secret_access_key: 'secret' }
  const { body } = await person.call('POST', `/v1/spaces/${inSpace}/connectors`, { name: 'c', type: 'aws-s3', s3 })
  return body.id
}
const valid = () => ({
  name: 'churn',
  description: 'who leaves',
  task: 'binary-classification',
  metrics: ['roc_auc', 'log_loss'],
  connectors: [{ connector_id: first, keys: ['test.csv'] }],
})
const aBenchmark = async (patch: object = {}) => {
  const { status, body } = await admin.call('POST', at(), { ...valid(), ...patch })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

describe('create and get', () => {
  test('a created benchmark comes back with its fields and no trace of an update', async () => {
    const { id, created_at, created_by, ...rest } = await aBenchmark()
    assert.deepEqual(rest, valid())
    assert.ok(created_at)
    assert.equal(created_by, 'ana')
    assert.deepEqual((await admin.call('GET', at(`/${id}`))).body, { id, created_at, created_by, ...rest })
  })

  test('connectors keep the order they were given in, and empty keys stay empty', async () => {
    const connectors = [
      { connector_id: second, keys: [] },
      { connector_id: first, keys: ['b', 'a'] },
    ]
    assert.deepEqual((await aBenchmark({ connectors })).connectors, connectors)
  })

  test('every metric is taken, and a repeated one counts once', async () => {
    assert.deepEqual((await aBenchmark({ metrics: [...METRICS, 'ks'] })).metrics, METRICS)
  })

  for (const field of ['name', 'description', 'task', 'metrics', 'connectors']) {
    test(`${field} is required`, async () => {
      const { status, body } = await admin.call('POST', at(), { ...valid(), [field]: undefined })
      assert.deepEqual([status, body.error.param], [400, field])
    })
  }

  const REFUSED: Record<string, [() => object, string]> = {
    'a metric nobody knows': [() => ({ metrics: ['luck'] }), 'invalid_request'],
    'a connector that is not there': [
      () => ({ connectors: [{ connector_id: newId(), keys: [] }] }),
      'invalid_reference',
    ],
    'a connector id that is none': [() => ({ connectors: [{ connector_id: 'x', keys: [] }] }), 'invalid_reference'],
    'a connector twice': [
      () => ({ connectors: [1, 2].map(() => ({ connector_id: first, keys: [] })) }),
      'invalid_request',
    ],
  }
  for (const [what, [patch, code]] of Object.entries(REFUSED)) {
    test(`${what} is refused with 400 ${code}`, async () => {
      const { status, body } = await admin.call('POST', at(), { ...valid(), ...patch() })
      assert.deepEqual([status, body.error.code], [400, code])
    })
  }

  test('a connector of another space is refused like one that is not there', async () => {
    const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })
    const foreign = await aConnector(other.id, await service.signIn('ana', ['admins']))
    const { status, body } = await admin.call('POST', at(), {
      ...valid(),
      connectors: [{ connector_id: foreign, keys: [] }],
    })
    assert.deepEqual([status, body.error.code], [400, 'invalid_reference'])
  })
})

describe('update', () => {
  test('changes only what is given and tells who did it', async () => {
    const { id } = await aBenchmark()
    const { body } = await admin.call('PUT', at(`/${id}`), { name: 'renamed', metrics: ['ks'] })
    assert.deepEqual([body.name, body.task, body.metrics, body.updated_by], ['renamed', valid().task, ['ks'], 'ana'])
    assert.deepEqual(body.connectors, valid().connectors)
  })

  test('a connector joins the others with empty keys', async () => {
    const { id } = await aBenchmark()
    const { body } = await admin.call('PUT', at(`/${id}`), { connector: second })
    assert.deepEqual(body.connectors, [...valid().connectors, { connector_id: second, keys: [] }])
  })

  test('a connector that is there already is replaced in its place', async () => {
    const { id } = await aBenchmark({
      connectors: [first, second].map((connector_id) => ({ connector_id, keys: ['k'] })),
    })
    const { body } = await admin.call('PUT', at(`/${id}`), { connector: first })
    assert.deepEqual(body.connectors, [
      { connector_id: first, keys: [] },
      { connector_id: second, keys: ['k'] },
    ])
  })

  test('with nothing changes nothing', async () => {
    const before = await aBenchmark()
    assert.deepEqual((await admin.call('PUT', at(`/${before.id}`), {})).body, before)
  })

  test('of a benchmark that is not there is 404, whatever the connector', async () => {
    assert.equal((await admin.call('PUT', at(`/${newId()}`), { connector: newId() })).status, 404)
  })

  test('with a connector that is not there is refused', async () => {
    const { id } = await aBenchmark()
    const { status, body } = await admin.call('PUT', at(`/${id}`), { connector: newId() })
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'invalid_reference', 'connector'])
  })
})

describe('list and delete', () => {
  test('pages are numbered, newest first, with the whole count on each', async () => {
    for (let at = 0; at < 3; at++) await aBenchmark({ name: `listed ${at}` })
    const { body: one } = await admin.call('GET', at('?page_size=2'))
    assert.deepEqual(
      one.data.map(({ name }: { name: string }) => name),
      ['listed 2', 'listed 1'],
    )
    assert.equal(one.has_more, true)
    const { body: two } = await admin.call('GET', '/v1/benchmarks?page_size=2&page=2', undefined, { space })
    assert.equal(two.data[0].name, 'listed 0')
    assert.equal(two.count, one.count)
  })

  test('a connector that a benchmark uses cannot be deleted until the benchmark is', async () => {
    const connector = await aConnector(space)
    const { id } = await aBenchmark({ connectors: [{ connector_id: connector, keys: [] }] })
    const address = `/v1/spaces/${space}/connectors/${connector}`
    const { status, body } = await admin.call('DELETE', address)
    assert.deepEqual([status, body.error.message], [409, 'A benchmark uses this connector'])
    assert.equal((await admin.call('DELETE', at(`/${id}`))).status, 204)
    assert.equal((await admin.call('GET', at(`/${id}`))).status, 404)
    assert.equal((await admin.call('DELETE', address)).status, 204)
  })

  test('a benchmark of another space is not there', async () => {
    const { id } = await aBenchmark()
    const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })
    const person = await service.signIn('ana', ['admins'])
    const foreign = `/v1/spaces/${other.id}/benchmarks`
    assert.equal((await person.call('GET', `${foreign}/${id}`)).status, 404)
    assert.equal((await person.call('PUT', `${foreign}/${id}`, { name: 'mine' })).status, 404)
    assert.equal((await person.call('DELETE', `${foreign}/${id}`)).status, 404)
    assert.equal((await person.call('GET', foreign)).body.count, 0)
  })

  test('a space goes with its connectors and benchmarks', async () => {
    const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'doomed', description: '' })
    const person = await service.signIn('ana', ['admins'])
    const connector = await aConnector(other.id, person)
    const body = { ...valid(), connectors: [{ connector_id: connector, keys: [] }] }
    assert.equal((await person.call('POST', `/v1/spaces/${other.id}/benchmarks`, body)).status, 200)
    assert.equal((await person.call('DELETE', `/v1/spaces/${other.id}`)).status, 204)
  })

  test('what was done is in the audit log, connectors included', async () => {
    const { id } = await aBenchmark()
    await admin.call('PUT', at(`/${id}`), { connector: second })
    await admin.call('DELETE', at(`/${id}`))
    const { body } = await admin.call('GET', '/v1/audit?limit=3')
    assert.deepEqual(
      body.data.map(({ action }: { action: string }) => action),
      ['benchmarks.delete', 'benchmarks.update', 'benchmarks.create'],
    )
    assert.equal(body.data[1].after.connectors.length, 2)
  })
})
