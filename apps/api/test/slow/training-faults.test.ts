// What can go wrong with a training on a real S3 server: each fault ends in a clear error on the record, and nothing hangs.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { crookedScore, syntheticData, toCsv } from '../../src/training/synthetic-data.ts'
import { type FreezingProxy, startFreezingProxy } from '../support/freezing-proxy.ts'
import { type S3Server, startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { KEYS } from '../support/s3-server-files.ts'
import { type Service, startService, until } from '../support/service.ts'
import { makeBucket, trainingSteps } from '../support/trainings.ts'

const missing = await whyNoS3Server()
const ENDLESS = {
  architecture: 'gradient-boosted-trees',
  configuration: { target: 'y', trees: 10_000, early_stopping: 0 },
}
const ROWS = toCsv(syntheticData(20_000, 6, crookedScore, 1))

let store: S3Server
let proxy: FreezingProxy
let service: Service
let dataDir: string
let steps: ReturnType<typeof trainingSteps>
let connector: string

before(async () => {
  if (missing) return
  store = await startS3Server()
  proxy = await startFreezingProxy(store.endpoint)
  dataDir = await mkdtemp(join(tmpdir(), 'amphi-faults-'))
  await makeBucket(store, 'data')
  await put('good.csv', ROWS)
  service = await startService({ env: { AWS_ENDPOINT_URL_S3: proxy.url, DATA_DIR: dataDir } })
  const admin = await service.signIn('ana', ['admins'])
  steps = trainingSteps((...request) => admin.call(...request), await service.firstSpace())
  connector = await steps.connector('data', KEYS)
})
after(async () => {
  if (missing) return
  await service?.close()
  proxy?.stop()
  await store?.stop()
  await rm(dataDir, { recursive: true })
})

const put = (Key: string, Body: string) => store.client.send(new PutObjectCommand({ Bucket: 'data', Key, Body }))
const trainingOf = (key: string, changes: Record<string, unknown> = {}) =>
  steps.training({ connectors: [{ connector_id: connector, keys: [key] }], ...changes })
const running = (id: string) =>
  until(`${id} runs`, async () => (await steps.ask('GET', `trainings/${id}`)).metrics.length > 0, 60_000)
const scratch = async () => (await readdir(join(dataDir, 'scratch'))).filter((name) => name.startsWith('job-'))

describe('data that cannot be learned from', { skip: missing }, () => {
  const FILES: Record<string, [string, string, RegExp]> = {
    'a truncated Parquet file': [
      'cut.parquet',
      `PAR1${'x'.repeat(500)}`,
      /cut\.parquet: this is not a whole Parquet file/,
    ],
    'a CSV with a broken quote': [
      'quote.csv',
      'x,y\n1,0\n2,"1\n3,0\n',
      /quote\.csv, line 3: a quoted value is not closed/,
    ],
    'a target with three values': ['three.csv', `x,y\n${'1,a\n2,b\n3,c\n'.repeat(20)}`, /three|3 values|two/],
    'no such target column': ['other.csv', `x,z\n${'1,0\n2,1\n'.repeat(20)}`, /y/],
    'a row of another width': ['wide.csv', 'x,y\n1,0\n1,2,3\n', /wide\.csv, line 3/],
  }
  for (const [what, [key, text, reason]] of Object.entries(FILES)) {
    test(what, async () => {
      await put(key, text)
      const { status, error } = await steps.ended(`trainings/${await trainingOf(key)}`)
      assert.equal(status, 'failed')
      assert.match(error, reason)
    })
  }
})

describe('files and stores that change their minds', { skip: missing }, () => {
  test('wrong keys', async () => {
    const id = await steps.connector('data', { ...KEYS, secretAccessKey: 'wrong' })
    const training = await steps.training({ connectors: [{ connector_id: id, keys: [] }] })
    assert.match((await steps.ended(`trainings/${training}`)).error, /does not accept these keys/)
  })

  test('a file that vanishes after its scan', async () => {
    await put('gone.csv', ROWS)
    await until('it is active', async () => (await steps.ask('GET', `connectors/${connector}`)).status === 'active')
    await steps.ask('POST', `connectors/${connector}/scan`, { files: ['gone.csv'] })
    await until('it is scanned', async () => (await steps.ask('GET', `connectors/${connector}`)).status === 'active')
    await store.client.send(new DeleteObjectCommand({ Bucket: 'data', Key: 'gone.csv' }))
    assert.match((await steps.ended(`trainings/${await trainingOf('gone.csv')}`)).error, /There is no file gone\.csv/)
  })

  for (const [verb, change, reason] of [
    ['changes', () => put('moving.csv', `${ROWS}0,0,0,0,0,0,1\n`), /The file moving\.csv changed after/],
    [
      'vanishes',
      () => store.client.send(new DeleteObjectCommand({ Bucket: 'data', Key: 'moving.csv' })),
      /There is no file/,
    ],
  ] as const) {
    test(`a file that ${verb} while the training waits in the queue`, async () => {
      await put('moving.csv', ROWS)
      const first = await trainingOf('good.csv', ENDLESS)
      await running(first)
      const second = await trainingOf('moving.csv')
      await until('it waits', async () => (await steps.ask('GET', `trainings/${second}`)).status === 'queued')
      await change()
      await steps.ask('POST', `trainings/${first}/cancel`)
      assert.match((await steps.ended(`trainings/${second}`)).error, reason)
      assert.equal((await steps.ended(`trainings/${first}`)).status, 'cancelled')
    })
  }

  test('the store falls silent in the middle of the file', async () => {
    const first = await trainingOf('good.csv', ENDLESS)
    await running(first)
    const second = await trainingOf('good.csv')
    await until('it waits', async () => (await steps.ask('GET', `trainings/${second}`)).status === 'queued')
    proxy.freezeAfter(100_000)
    await steps.ask('POST', `trainings/${first}/cancel`)
    const { status, error } = await steps.ended(`trainings/${second}`, 300_000)
    proxy.thaw()
    assert.equal(status, 'failed')
    assert.match(error, /The store of the bucket \S+ (did not answer in time|cannot be reached)/)
    assert.deepEqual(await scratch(), [])
  })
})

describe('the service and its machine', { skip: missing }, () => {
  test('a training that is cancelled while it runs stops within seconds and leaves nothing on the disk', async () => {
    const id = await trainingOf('good.csv', ENDLESS)
    await running(id)
    const began = performance.now()
    await steps.ask('POST', `trainings/${id}/cancel`)
    assert.equal((await steps.ended(`trainings/${id}`)).status, 'cancelled')
    assert.ok(performance.now() - began < 8000)
    await until('the scratch folder is empty', async () => (await scratch()).length === 0)
  })

  test('a training that is deleted while it runs stops and takes its files along', async () => {
    const id = await trainingOf('good.csv', ENDLESS)
    await running(id)
    assert.equal((await steps.ask('GET', 'cluster')).nodes[0].jobs[0].job_id, id)
    const folder = join(dataDir, 'checkpoints', 'acme', await service.firstSpace())
    await until('a checkpoint is stored', async () => (await readdir(folder)).includes(id))
    const { app } = service
    const admin = await service.signIn('ana', ['admins'])
    const headers = { authorization: `Bearer ${admin.token}` }
    assert.equal((await app.inject({ method: 'DELETE', url: steps.at(`trainings/${id}`), headers })).statusCode, 204)
    await until('its scratch folder is gone', async () => (await scratch()).length === 0, 20_000)
    await until('its files are gone', async () => !(await readdir(folder)).includes(id), 20_000)
  })

  test('while it trains, requests are answered without waiting for it', async (t) => {
    const id = await trainingOf('good.csv', ENDLESS)
    await running(id)
    const times: number[] = []
    for (let at = 0; at < 500; at++) {
      const began = performance.now()
      await steps.ask('GET', `connectors/${connector}`)
      times.push(performance.now() - began)
    }
    times.sort((a, b) => a - b)
    t.diagnostic(`p50 ${times[250]!.toFixed(1)} ms, p99 ${times[495]!.toFixed(1)} ms`)
    assert.ok(times[495]! < 250, `p99 ${times[495]} ms`)
    await steps.ask('POST', `trainings/${id}/cancel`)
    await steps.ended(`trainings/${id}`)
  })

  test('a disk without room for the data', {
    skip: process.getuid?.() !== 0 && 'only root can make a small disk',
  }, async (t) => {
    const small = await mkdtemp(join(tmpdir(), 'amphi-small-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small])
    t.after(async () => {
      execFileSync('umount', [small])
      await rm(small, { recursive: true })
    })
    const own = await startService({ env: { AWS_ENDPOINT_URL_S3: store.endpoint, DATA_DIR: small } })
    try {
      const admin = await own.signIn('ana', ['admins'])
      const there = trainingSteps((...request) => admin.call(...request), await own.firstSpace())
      const connector_id = await there.connector('data', KEYS)
      const id = await there.training({ connectors: [{ connector_id, keys: ['good.csv'] }] })
      assert.match((await there.ended(`trainings/${id}`)).error, /The disk is full/)
    } finally {
      await own.close()
    }
  })

  test('a disk without room for the checkpoints', {
    skip: process.getuid?.() !== 0 && 'only root can make a small disk',
  }, async (t) => {
    const small = await mkdtemp(join(tmpdir(), 'amphi-small-'))
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', small])
    t.after(async () => {
      execFileSync('umount', [small])
      await rm(small, { recursive: true })
    })
    const own = await startService({
      env: { AWS_ENDPOINT_URL_S3: store.endpoint, DATA_DIR: dataDir, CHECKPOINT_STORE: small },
    })
    try {
      const admin = await own.signIn('ana', ['admins'])
      const there = trainingSteps((...request) => admin.call(...request), await own.firstSpace())
      const connector_id = await there.connector('data', KEYS)
      const id = await there.training({ ...ENDLESS, connectors: [{ connector_id, keys: ['good.csv'] }] })
      const { error, checkpoints } = await there.ended(`trainings/${id}`)
      assert.match(error, /The disk is full/)
      assert.ok(checkpoints.length > 0, 'what was stored before stays')
    } finally {
      await own.close()
    }
  })
})
