// The service killed in each state of a training: on the next start it goes on or ends, and the record says so.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { crookedScore, syntheticData, toCsv } from '../../src/training/synthetic-data.ts'
import { type FreezingProxy, startFreezingProxy } from '../support/freezing-proxy.ts'
import { call, type ServiceProcess, spawnService } from '../support/processes.ts'
import { type S3Server, startS3Server, whyNoS3Server } from '../support/s3-server.ts'
import { KEYS } from '../support/s3-server-files.ts'
import { until } from '../support/service.ts'
import { makeBucket, trainingSteps } from '../support/trainings.ts'

const missing = await whyNoS3Server()
const SHORT = { architecture: 'gradient-boosted-trees', configuration: { target: 'y', trees: 60, seed: 5 } }
const ENDLESS = { ...SHORT, configuration: { target: 'y', trees: 10_000, early_stopping: 0 } }

let store: S3Server
let proxy: FreezingProxy
let dataDir: string
let service: ServiceProcess
let steps: ReturnType<typeof trainingSteps>
let connectors: { connector_id: string; keys: string[] }[]

async function start(): Promise<void> {
  service = await spawnService({ DATA_DIR: dataDir, AWS_ENDPOINT_URL_S3: proxy.url })
  steps = trainingSteps((method, path, body) => call(service, method, path, body), service.space)
}
async function killAndStart(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  await service.kill(signal)
  await start()
}

before(async () => {
  if (missing) return
  store = await startS3Server()
  proxy = await startFreezingProxy(store.endpoint)
  dataDir = await mkdtemp(join(tmpdir(), 'amphi-kills-'))
  await makeBucket(store, 'data')
  const Body = toCsv(syntheticData(20_000, 6, crookedScore, 1))
  await store.client.send(new PutObjectCommand({ Bucket: 'data', Key: 'good.csv', Body }))
  await start()
  connectors = [{ connector_id: await steps.connector('data', KEYS), keys: ['good.csv'] }]
})
after(async () => {
  if (missing) return
  await service?.kill('SIGTERM')
  proxy?.stop()
  await store?.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const statusOf = async (id: string) => (await steps.ask('GET', `trainings/${id}`)).status
const runs = (id: string) =>
  until(`${id} runs`, async () => (await steps.ask('GET', `trainings/${id}`)).metrics.length > 2, 60_000)
const eventsOf = async (id: string): Promise<{ status: string; attempt: number; reason?: string }[]> =>
  (await steps.ask('GET', `trainings/${id}/events?limit=100`)).data.reverse()

describe('killed', { skip: missing }, () => {
  test('while it runs, it is taken up as attempt 2 and comes to the same models', async () => {
    const whole = await steps.ended(`trainings/${await steps.training({ ...SHORT, connectors })}`)
    const id = await steps.training({ ...SHORT, connectors })
    await runs(id)
    const before = await steps.ask('GET', `trainings/${id}`)
    await killAndStart()
    const after = await steps.ended(`trainings/${id}`, 120_000)
    assert.equal(after.status, 'succeeded', after.error)
    assert.deepEqual(after.metrics, whole.metrics)
    const digests = ({ checkpoints }: typeof after) => checkpoints.map(({ sha256 }: { sha256: string }) => sha256)
    assert.deepEqual(digests(after), digests(whole))
    const idsBefore = before.checkpoints.map(({ id }: { id: string }) => id)
    assert.deepEqual(
      after.checkpoints.slice(0, idsBefore.length).map(({ id }: { id: string }) => id),
      idsBefore,
    )
    assert.deepEqual(
      (await eventsOf(id)).map(({ status, attempt }) => [status, attempt]),
      [
        ['validating', 0],
        ['queued', 0],
        ['running', 1],
        ['running', 2],
        ['succeeded', 2],
      ],
    )
  })

  test('while it is validated, it is validated on the next start', async () => {
    proxy.freezeAfter(0)
    const id = await steps.training({ ...SHORT, connectors })
    assert.equal(await statusOf(id), 'validating')
    await service.kill('SIGKILL')
    proxy.thaw()
    await start()
    assert.equal((await steps.ended(`trainings/${id}`, 120_000)).status, 'succeeded')
  })

  test('while one waits and another is being cancelled, the one runs and the other is cancelled', async () => {
    const endless = await steps.training({ ...ENDLESS, connectors })
    await runs(endless)
    const waiting = await steps.training({ ...SHORT, connectors })
    await until('it waits', async () => (await statusOf(waiting)) === 'queued')
    const cancelled = call(service, 'POST', steps.at(`trainings/${endless}/cancel`))
    assert.equal((await cancelled).body.status, 'cancelling')
    await killAndStart()
    assert.equal((await steps.ended(`trainings/${endless}`, 120_000)).status, 'cancelled')
    assert.equal((await steps.ended(`trainings/${waiting}`, 120_000)).status, 'succeeded')
  })

  test('by its third death it fails and says so, and leaves no data on the disk', async () => {
    const id = await steps.training({ ...ENDLESS, connectors })
    for (let death = 1; death <= 3; death++) {
      await until(`attempt ${death} runs`, async () => (await eventsOf(id)).at(-1)!.attempt === death, 90_000)
      await killAndStart()
    }
    const { status, error } = await steps.ended(`trainings/${id}`, 120_000)
    assert.deepEqual([status, error], ['failed', 'The training was interrupted 3 times and is not tried again'])
    const left = (await readdir(join(dataDir, 'scratch'))).filter((name) => name.startsWith('job-'))
    assert.deepEqual(left, [])
  })
})

test('told to stop, it goes on at the next start at once, however often', { skip: missing }, async () => {
  const id = await steps.training({ ...ENDLESS, connectors })
  for (let stop = 1; stop <= 4; stop++) {
    await until(`attempt ${stop} runs`, async () => (await eventsOf(id)).at(-1)!.attempt === stop, 30_000)
    await killAndStart('SIGTERM')
  }
  await until('attempt 5 runs', async () => (await eventsOf(id)).at(-1)!.attempt === 5, 30_000)
  await steps.ask('POST', `trainings/${id}/cancel`)
  assert.equal((await steps.ended(`trainings/${id}`)).status, 'cancelled')
})
