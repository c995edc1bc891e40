// What a training costs everyone else: requests beside one that runs, over real sockets, on a real S3 server.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { crookedScore, syntheticData, toCsv } from '../src/training/synthetic-data.ts'
import { call, spawnService } from '../test/support/processes.ts'
import { startS3Server, whyNoS3Server } from '../test/support/s3-server.ts'
import { KEYS } from '../test/support/s3-server-files.ts'
import { until } from '../test/support/service.ts'
import { makeBucket, trainingSteps } from '../test/support/trainings.ts'
import { report } from './support/measure.ts'

const ROWS = 100_000
const FEATURES = 20
const REQUESTS = 3000

const missing = await whyNoS3Server()
if (missing) {
  console.log(`skipped: ${missing}`)
  process.exit(0)
}
const dataDir = await mkdtemp(join(tmpdir(), 'amphi-bench-'))
const store = await startS3Server()
await makeBucket(store, 'data')
const Body = toCsv(syntheticData(ROWS, FEATURES, crookedScore, 1))
await store.client.send(new PutObjectCommand({ Bucket: 'data', Key: 'rows.csv', Body }))
const service = await spawnService({ DATA_DIR: dataDir, AWS_ENDPOINT_URL_S3: store.endpoint })
const steps = trainingSteps((method, path, body) => call(service, method, path, body), service.space)
const connector = await steps.connector('data', KEYS)

await percentiles('GET with nothing else going on')
const training = await steps.training({
  architecture: 'gradient-boosted-trees',
  configuration: { target: 'y', trees: 10_000, early_stopping: 0 },
  connectors: [{ connector_id: connector, keys: ['rows.csv'] }],
})
const now = () => steps.ask('GET', `trainings/${training}`)
await until('it runs', async () => (await now()).metrics.length > 0, 120_000)
const [rounds, began] = [(await now()).metrics.length, performance.now()]
await percentiles('GET beside a training (p99 under 50)')
const more = (await now()).metrics.length - rounds
report(`trees a second, ${ROWS} rows of ${FEATURES} columns`, (more * 1000) / (performance.now() - began))
await steps.ask('POST', `trainings/${training}/cancel`)
const asked = performance.now()
await steps.ended(`trainings/${training}`)
report('from cancel to cancelled, ms', performance.now() - asked)

await service.kill('SIGTERM')
await store.stop()
await rm(dataDir, { recursive: true, force: true })

async function percentiles(what: string): Promise<void> {
  const times: number[] = []
  for (let at = 0; at < REQUESTS; at++) {
    const began = performance.now()
    await steps.ask('GET', `connectors/${connector}`)
    times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  report(`${what}, p50 ms`, times[Math.floor(REQUESTS * 0.5)]!)
  report(`${what}, p99 ms`, times[Math.floor(REQUESTS * 0.99)]!)
}
