// Connectors as a client sees them (contract 2.12, 2.28, 3.5, 4.2.6); what they find in a real store is tested apart.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { pino } from 'pino'
import { newId } from '../../src/base/ids.ts'
import { startRefusingStore } from '../support/refusing-store.ts'
import { type Person, type Service, startService, until } from '../support/service.ts'

const KEY_ID = 'AKIA-very-visible-id'
const SECRET = 'very-visible-secret'

let store: Awaited<ReturnType<typeof startRefusingStore>>
let service: Service
let admin: Person
let space: string
let dataDir: string
let logged = ''

before(async () => {
  store = await startRefusingStore()
  dataDir = await mkdtemp(join(tmpdir(), 'amphi-connectors-'))
  const log = pino(
    { level: 'trace' },
    new Writable({
      write(chunk, _, done) {
        logged += chunk
        done()
      },
    }),
  )
  service = await startService({ env: { AWS_ENDPOINT_URL_S3: store.endpoint, DATA_DIR: dataDir }, log })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
})
after(async () => {
  await service.close()
  store.stop()
  await rm(dataDir, { recursive: true })
})

const at = (path = '') => `/v1/spaces/${space}/connectors${path}`
const s3 = (bucket: string) => ({ bucket, region: 'eu-central-1', access_key_id: KEY_ID, secret_access_key: SECRET })
const aConnector = async (bucket: string): Promise<string> => {
  const { status, body } = await admin.call('POST', at(), { name: bucket, type: 'aws-s3', s3: s3(bucket) })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}
const settled = async (id: string) => {
  const open = ['pending', 'scanning']
  await until('it has settled', async () => !open.includes((await admin.call('GET', at(`/${id}`))).body.status))
  return (await admin.call('GET', at(`/${id}`))).body as { status: string; error?: string }
}

describe('create, get, list, delete', () => {
  test('a new connector is answered at once, with its record and without its keys', async () => {
    const { status, body } = await admin.call('POST', at(), { name: 'sales', type: 'aws-s3', s3: s3('empty') })
    assert.equal(status, 200)
    const { id, created_at, ...rest } = body
    assert.deepEqual(rest, {
      name: 'sales',
      provider: 'aws-s3',
      region: 'eu-central-1',
      status: 'pending',
      created_by: 'ana',
    })
    assert.ok(id && created_at)
    const { body: found } = await admin.call('GET', '/v1/connectors?limit=1', undefined, { space })
    assert.equal(found.data[0].id, id)
  })

  test('a deleted connector is gone, with its scans', async () => {
    const id = await aConnector('empty')
    await settled(id)
    await admin.call('POST', at(`/${id}/scan`), { files: ['a.csv'] })
    assert.equal((await admin.call('DELETE', at(`/${id}`))).status, 204)
    for (const path of [`/${id}`, `/${id}/files`, `/${id}/scans`]) {
      assert.equal((await admin.call('GET', at(path))).status, 404, path)
    }
    assert.equal((await admin.call('POST', at(`/${id}/scan`), { files: ['a.csv'] })).status, 404)
  })

  test('a connector of another space is not found, and neither are its scans', async () => {
    const id = await aConnector('empty')
    const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })
    const fresh = await service.signIn('ana', ['admins'])
    for (const path of [`/${id}`, `/${id}/files`, `/${id}/scans`]) {
      assert.equal((await fresh.call('GET', `/v1/spaces/${other.id}/connectors${path}`)).status, 404, path)
    }
  })

  const REFUSED: Record<string, [object, string]> = {
    'no store at all': [{ s3: undefined }, 's3'],
    'a store of another kind': [{ type: 'gcs' }, 'type'],
    'no bucket': [{ s3: { ...s3('x'), bucket: undefined } }, 's3.bucket'],
    'a bucket that would change the host': [{ s3: s3('evil.example/') }, 's3.bucket'],
    'a region that would change the host': [{ s3: { ...s3('data'), region: 'x.evil.example' } }, 's3.region'],
    'no secret key': [{ s3: { ...s3('data'), secret_access_key: undefined } }, 's3.secret_access_key'],
    'an empty name': [{ name: '' }, 'name'],
    'a field nobody knows': [{ owner: 'me' }, 'owner'],
  }
  for (const [what, [patch, param]] of Object.entries(REFUSED)) {
    test(`${what} is refused, naming ${param}`, async () => {
      const { status, body } = await admin.call('POST', at(), { name: 'x', type: 'aws-s3', s3: s3('data'), ...patch })
      assert.deepEqual([status, body.error.param], [400, param], JSON.stringify(body))
    })
  }
})

describe('verification', () => {
  const ENDS: [string, string, string | undefined][] = [
    ['empty', 'active', undefined],
    ['wrong-keys', 'error', 'The store does not accept these keys'],
    ['forbidden', 'error', 'These keys may not read the bucket forbidden'],
    ['nowhere', 'error', 'There is no bucket nowhere'],
  ]
  for (const [bucket, status, error] of ENDS) {
    test(`the bucket ${bucket} makes the connector ${status}${error ? `: ${error}` : ''}`, async () => {
      const found = await settled(await aConnector(bucket))
      assert.deepEqual([found.status, found.error], [status, error])
    })
  }
})

describe('files', () => {
  test('an empty bucket has no pages', async () => {
    const { status, body } = await admin.call('GET', at(`/${await aConnector('empty')}/files`))
    assert.deepEqual([status, body], [200, []])
  })

  test('a store that refuses is told as a failure of the store', async () => {
    const { status, body } = await admin.call('GET', at(`/${await aConnector('wrong-keys')}/files`))
    assert.deepEqual([status, body.error.code], [502, 'upstream_error'])
    assert.equal(body.error.message, 'The store does not accept these keys')
  })

  for (const limit of ['0', '10001', 'many']) {
    test(`a limit of ${limit} is refused`, async () => {
      const { status, body } = await admin.call('GET', at(`/${newId()}/files?limit=${limit}`))
      assert.deepEqual([status, body.error.param], [400, 'limit'])
    })
  }
})

describe('scan', () => {
  test('is answered with an empty object at once, and its end is on both records', async () => {
    const id = await aConnector('nowhere')
    const { status, body } = await admin.call('POST', at(`/${id}/scan`), { files: ['a.csv', 'b.csv', 'a.csv'] })
    assert.deepEqual([status, body], [200, {}])
    const { status: end, error } = await settled(id)
    assert.deepEqual([end, error], ['error', 'There is no file a.csv (and 1 more)'])
    const { body: scans } = await admin.call('GET', at(`/${id}/scans`))
    const [scan] = scans.data
    assert.deepEqual([scans.count, scan.status, scan.error, scan.created_by], [1, 'failed', error, 'ana'])
    assert.deepEqual(scan.files, [
      { name: 'a.csv', error: 'There is no file a.csv' },
      { name: 'b.csv', error: 'There is no file b.csv' },
    ])
    assert.ok(scan.finished_at >= scan.created_at)
  })

  test('a second one at the same time is a conflict', async () => {
    const id = await aConnector('silent')
    assert.equal((await admin.call('POST', at(`/${id}/scan`), { files: ['a.csv'] })).status, 200)
    assert.equal((await admin.call('GET', at(`/${id}`))).body.status, 'scanning')
    const { status, body } = await admin.call('POST', at(`/${id}/scan`), { files: ['a.csv'] })
    assert.deepEqual([status, body.error.code], [409, 'conflict'])
  })

  for (const name of ['notes.docx', 'notes.constructor']) {
    test(`${name}, whose name tells no format, is named in the error`, async () => {
      const id = await aConnector('empty')
      await settled(id)
      await admin.call('POST', at(`/${id}/scan`), { files: [name] })
      assert.match((await settled(id)).error ?? '', new RegExp(`^${name}: its name does not end in`))
    })
  }

  test('one whose connector is deleted does not go on through the other files', async () => {
    const id = await aConnector('elsewhere')
    await settled(id)
    const files = Array.from({ length: 1000 }, (_, number) => `${number}.csv`)
    const asked = () => store.asked.filter((bucket) => bucket === 'elsewhere').length
    const before = asked()
    await admin.call('POST', at(`/${id}/scan`), { files })
    await until('it is under way', () => asked() > before)
    await admin.call('DELETE', at(`/${id}`))
    const { system } = service.process
    const left = () => system`select from jobs where name = 'connectors.scan' and payload->>'id' = ${id}`
    await until('its job has ended', async () => (await left()).length === 0, 30_000)
    assert.ok(asked() < before + files.length)
  })

  for (const files of [[], [''], ['a'.repeat(1025)]]) {
    test(`${JSON.stringify(files).slice(0, 10)} names no files and is refused`, async () => {
      assert.equal((await admin.call('POST', at(`/${newId()}/scan`), { files })).status, 400)
    })
  }
})

test('keys are nowhere to be read: not in answers, audit, jobs, rows or logs', async () => {
  const id = await aConnector('wrong-keys')
  await settled(id)
  await admin.call('POST', at(`/${id}/scan`), { files: ['a.csv'] })
  await settled(id)
  const answers = [at(), at(`/${id}`), at(`/${id}/files`), at(`/${id}/scans`), '/v1/audit?limit=1000']
  for (const address of answers) {
    const { text } = await admin.call('GET', address)
    assert.ok(!text.includes(KEY_ID) && !text.includes(SECRET), address)
  }
  for (const table of ['connectors', 'connector_scans', 'jobs', 'audit'] as const) {
    const { system } = service.process
    const rows = await system`select row_to_json(t)::text as text from ${system(table)} t`
    const text = rows.map((row) => row['text']).join()
    assert.ok(!text.includes(KEY_ID) && !text.includes(SECRET), table)
  }
  assert.ok(logged.length > 0)
  assert.ok(!logged.includes(KEY_ID) && !logged.includes(SECRET))
})
