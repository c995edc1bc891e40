// Connectors on a real S3 server: what is found there, and how each thing that can go wrong is told.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import { type FreezingProxy, startFreezingProxy } from '../support/freezing-proxy.ts'
import { call, type ServiceProcess, spawnService } from '../support/processes.ts'
import { type S3Server, startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { KEYS } from '../support/s3-server-files.ts'
import { type Person, type Service, startService, until } from '../support/service.ts'

const BUCKET = 'training-data'
const ROWS = 200_000
const why = await whyNoS3Server()

let server: S3Server
let proxy: FreezingProxy
let service: Service
let admin: Person
let space: string
let folder: string

describe('connectors on a real S3 server', { skip: why ?? false }, () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'amphi-connectors-s3-'))
    server = await startS3Server()
    proxy = await startFreezingProxy(server.endpoint)
    service = await startService({ env: { AWS_ENDPOINT_URL_S3: proxy.url, DATA_DIR: folder } })
    admin = await service.signIn('ana', ['admins'])
    space = await service.firstSpace()
    await server.client.send(new CreateBucketCommand({ Bucket: BUCKET }))
    await putTables()
  })
  after(async () => {
    await service?.close()
    proxy?.stop()
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  describe('verification', () => {
    test('right keys to a bucket that is there make the connector active', async () => {
      assert.deepEqual(await settled(await aConnector()), { status: 'active', error: undefined })
    })

    const WRONG: [string, object, string][] = [
      ['a wrong secret', { secret_access_key: 'wrong' }, 'The store does not accept these keys'],
      ['an unknown key id', { access_key_id: 'nobody' }, 'The store does not accept these keys'],
      ['a missing bucket', { bucket: 'not-there' }, 'There is no bucket not-there'],
    ]
    for (const [what, patch, error] of WRONG) {
      test(`${what} makes it an error: ${error}`, async () => {
        const id = await aConnector(patch)
        assert.deepEqual(await settled(id), { status: 'error', error })
        const { status, body } = await admin.call('GET', at(`/${id}/files`))
        assert.deepEqual([status, body.error.message], [502, error])
      })
    }
  })

  describe('files', () => {
    before(async () => {
      const names = Array.from({ length: 1100 }, (_, at) => `many/${String(at).padStart(4, '0')}.csv`)
      while (names.length > 0) await Promise.all(names.splice(0, 25).map((name) => put(name, 'a\n1\n')))
      for (const name of ['odd/', 'odd/a b+c&d=é.csv', 'odd/deep/er.csv', 'oddity.csv']) await put(name, 'a\n1\n')
    })

    test('come in pages of at most a thousand, up to the limit over all of them', async () => {
      const id = await aConnector({ prefix: 'many' })
      const { body: pages } = await admin.call('GET', at(`/${id}/files?limit=1050`))
      assert.deepEqual(
        pages.map((page: unknown[]) => page.length),
        [1000, 50],
      )
      assert.deepEqual(pages[1][0], { files: '1000.csv', size: 4 })
      const { body: usual } = await admin.call('GET', at(`/${id}/files`))
      assert.deepEqual(
        usual.map((page: unknown[]) => page.length),
        [100],
      )
    })

    test('are named below the prefix of the connector, whatever characters they have, without folders', async () => {
      const { body } = await admin.call('GET', at(`/${await aConnector({ prefix: 'odd' })}/files`))
      assert.deepEqual(namesIn(body), ['a b+c&d=é.csv', 'deep/er.csv'])
    })

    test('can be narrowed by the start of their names', async () => {
      const { body } = await admin.call('GET', at(`/${await aConnector({ prefix: 'odd/' })}/files?prefix=deep`))
      assert.deepEqual(namesIn(body), ['deep/er.csv'])
    })

    test('can be scanned by the names they are listed with', async () => {
      const [file] = await scanned(await aConnector({ prefix: 'odd' }), ['a b+c&d=é.csv'])
      assert.equal(file?.row_count, 1)
    })
  })

  describe('a scan', () => {
    const COLUMNS = [
      { name: 'amount', type: 'DOUBLE', null_count: 20_000 },
      { name: 'city', type: 'VARCHAR', null_count: 0 },
      { name: 'id', type: 'BIGINT', null_count: 0 },
    ]
    for (const format of ['csv', 'ndjson', 'parquet']) {
      test(`reads columns, types, missing values and rows of ${format}`, async () => {
        const name = `tables/sales.${format}`
        const [file] = await scanned(await aConnector(), [name])
        const columns = file?.columns?.toSorted((one, other) => one.name.localeCompare(other.name))
        assert.deepEqual({ ...file, columns }, { name, row_count: ROWS, columns: COLUMNS })
      })
    }

    test('of Parquet fetches the end of the file and no more', async () => {
      const { length } = await readFile(join(folder, 'sales.parquet'))
      assert.ok(length > 1_000_000)
      const before = proxy.passed
      await scanned(await aConnector(), ['tables/sales.parquet'])
      assert.ok(proxy.passed - before < 200_000, `${proxy.passed - before} bytes`)
    })

    const FAULTS: [string, string, RegExp][] = [
      ['a file that vanished', 'faults/vanished.csv', /^There is no file faults\/vanished\.csv$/],
      [
        'a truncated Parquet file',
        'faults/truncated.parquet',
        /^faults\/truncated\.parquet: this is not a whole Parquet/,
      ],
      ['a Parquet file with a damaged footer', 'faults/damaged.parquet', /^faults\/damaged\.parquet: .*damaged/],
      [
        'a CSV file with a broken quote',
        'faults/quote.csv',
        /^faults\/quote\.csv, line 3: a quoted value is not closed/,
      ],
      [
        'a CSV file with a row too long',
        'faults/ragged.csv',
        /^faults\/ragged\.csv, line 3: 3 values where the header has 2/,
      ],
      ['a file that is not NDJSON', 'faults/text.ndjson', /^faults\/text\.ndjson, line 2: this is not a JSON object/],
      ['an empty file', 'faults/empty.csv', /^faults\/empty\.csv is empty/],
    ]
    before(async () => {
      const parquet = await readFile(join(folder, 'sales.parquet'))
      const damaged = Buffer.from(parquet)
      damaged.fill(0xff, damaged.length - 300, damaged.length - 20)
      await put('faults/vanished.csv', 'a\n1\n')
      await server.client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'faults/vanished.csv' }))
      await put('faults/truncated.parquet', parquet.subarray(0, parquet.length - 1000))
      await put('faults/damaged.parquet', damaged)
      await put('faults/quote.csv', 'a,b\n1,2\n"3,4\n5,6\n')
      await put('faults/ragged.csv', 'a,b\n1,2\n3,4,5\n')
      await put('faults/text.ndjson', '{"a":1}\nhello\n')
      await put('faults/empty.csv', '')
    })
    for (const [what, name, told] of FAULTS) {
      test(`of ${what} ends in an error that says so`, async () => {
        const id = await aConnector()
        await admin.call('POST', at(`/${id}/scan`), { files: [name] })
        const { status, error } = await settled(id)
        assert.equal(status, 'error')
        assert.match(error ?? '', told)
        const { body } = await admin.call('GET', at(`/${id}/scans`))
        assert.deepEqual([body.data[0].status, body.data[0].error], ['failed', error])
      })
    }

    test('goes on after a broken file, and the next good one clears the error', async () => {
      const id = await aConnector()
      await admin.call('POST', at(`/${id}/scan`), { files: ['faults/quote.csv', 'tables/sales.csv'] })
      assert.equal((await settled(id)).status, 'error')
      const { body } = await admin.call('GET', at(`/${id}/scans`))
      assert.equal(body.data[0].files[1].row_count, ROWS)
      await scanned(id, ['tables/sales.csv'])
      assert.deepEqual(await settled(id), { status: 'active', error: undefined })
    })

    test('goes on after kill -9 where it was, and what the dead process left on the disk is swept', async () => {
      const dataDir = await mkdtemp(join(folder, 'killed-'))
      const env = { AWS_ENDPOINT_URL_S3: proxy.url, DATA_DIR: dataDir }
      const first = await spawnService(env)
      const address = `/v1/spaces/${first.space}/connectors`
      const { body } = await call(first, 'POST', address, { name: 'data', type: 'aws-s3', s3: s3() })
      const scan = async (from: ServiceProcess) => (await call(from, 'GET', `${address}/${body.id}/scans`)).body.data[0]
      proxy.freezeAfter(200_000)
      const files = ['tables/sales.parquet', 'tables/sales.csv']
      assert.equal((await call(first, 'POST', `${address}/${body.id}/scan`, { files })).status, 200)
      await until('one file is done', async () => (await scan(first)).files.length === 1)
      await until(
        'the other is on its way',
        async () => (await readdir(join(dataDir, 'scratch', 'scans'))).length === 1,
      )
      await first.kill('SIGKILL')
      proxy.thaw()
      const second = await spawnService(env)
      try {
        assert.deepEqual(await readdir(join(dataDir, 'scratch', 'scans')), [])
        await until('the scan has ended', async () => (await scan(second)).status !== 'running', 60_000)
        const { status, files: found } = await scan(second)
        assert.equal(status, 'succeeded')
        assert.deepEqual(
          found.map(({ row_count }: Scanned) => row_count),
          [ROWS, ROWS],
        )
      } finally {
        await second.kill('SIGTERM')
      }
    })

    test('from a store that falls silent in mid-file ends in an error, and leaves nothing on the disk', async () => {
      const id = await aConnector()
      await settled(id)
      proxy.freezeAfter(100_000)
      await admin.call('POST', at(`/${id}/scan`), { files: ['tables/sales.csv', 'tables/sales.parquet'] })
      const told = await settled(id, 300_000)
      proxy.thaw()
      assert.deepEqual(told, {
        status: 'error',
        error: `The store of the bucket ${BUCKET} did not answer in time`,
      })
      assert.deepEqual(await readdir(join(folder, 'scratch', 'scans')), [])
    })
  })
})

const at = (path = '') => `/v1/spaces/${space}/connectors${path}`
const put = (name: string, body: string | Buffer) =>
  server.client.send(
    new PutObjectCommand({ Bucket: BUCKET, Key: name, Body: body, ContentLength: Buffer.byteLength(body) }),
  )
const namesIn = (pages: { files: string }[][]) => pages.flat().map(({ files }) => files)

const s3 = (patch: object = {}) => {
  const keys = { access_key_id: KEYS.accessKeyId, secret_access_key: KEYS.secretAccessKey }
  return { bucket: BUCKET, region: 'us-east-1', ...keys, ...patch }
}

async function aConnector(patch: object = {}): Promise<string> {
  const { status, body } = await admin.call('POST', at(), { name: 'data', type: 'aws-s3', s3: s3(patch) })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}

async function settled(id: string, timeoutMs = 30_000): Promise<{ status: string; error?: string | undefined }> {
  const get = async () => (await admin.call('GET', at(`/${id}`))).body
  const isOpen = async () => ['pending', 'scanning'].includes((await get()).status)
  await until('it has settled', async () => !(await isOpen()), timeoutMs)
  const { status, error } = await get()
  return { status, error }
}

interface Scanned {
  name: string
  row_count?: number
  columns?: { name: string }[]
  error?: string
}

async function scanned(id: string, files: string[]): Promise<Scanned[]> {
  const { status, body } = await admin.call('POST', at(`/${id}/scan`), { files })
  assert.deepEqual([status, body], [200, {}])
  const { error } = await settled(id)
  assert.equal(error, undefined)
  return (await admin.call('GET', at(`/${id}/scans`))).body.data[0].files
}

/** The same table in each format: every tenth amount is missing. */
async function putTables(): Promise<void> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const table = `select range as id, case when range % 10 = 0 then null else range + random() end as amount,
    'city ' || range % 7 as city from range(${ROWS})`
  for (const [format, options] of Object.entries({ csv: 'header', ndjson: 'format json', parquet: 'format parquet' })) {
    const path = join(folder, `sales.${format}`)
    await connection.run(`copy (${table}) to '${path}' (${options})`)
    await put(`tables/sales.${format}`, await readFile(path))
  }
  connection.closeSync()
}
