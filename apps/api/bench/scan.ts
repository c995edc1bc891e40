// How fast a scan reads files from a real S3 server on this machine, in each format.
import { createReadStream } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CreateBucketCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { DuckDBInstance } from '@duckdb/node-api'
import { Secret } from '../src/base/secret.ts'
import { scanStoredFile } from '../src/jobs/connector-scan-file.ts'
import { openEgress } from '../src/outside/egress/egress.ts'
import { openObjectStore } from '../src/outside/object-store/object-store.ts'
import { startS3Server, whyNoS3Server } from '../test/support/s3-server.ts'
import { KEYS } from '../test/support/s3-server-files.ts'
import { report } from './support/measure.ts'

const BUCKET = 'bench'
const COLUMNS = 20
const RUNS = 3
const ROWS = 500_000

const why = await whyNoS3Server()
if (why) throw new Error(`There can be no S3 server here: ${why}`)
const folder = await mkdtemp(join(tmpdir(), 'amphi-bench-'))
const server = await startS3Server()
const egress = openEgress({ allow: [], production: false })
const objects = openObjectStore({ endpoint: server.endpoint, egress })
const bucket = {
  name: BUCKET,
  prefix: '',
  region: 'us-east-1',
  accessKeyId: new Secret(KEYS.accessKeyId),
  secretAccessKey: new Secret(KEYS.secretAccessKey),
}
const { signal } = new AbortController()

try {
  await server.client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  for (const format of ['csv', 'ndjson', 'parquet']) {
    const { name, megabytes } = await putTable(format)
    const path = join(folder, 'download')
    const fetched = await best(async () => void (await objects.download(bucket, name, path, { signal })))
    const scanned = await best(async () => void (await scanStoredFile(objects, bucket, name, path, signal)))
    const what = `${format}, ${megabytes.toFixed(0)} MB`
    report(`${what}: download, MB/s`, megabytes / fetched)
    report(`${what}: download and scan, s`, scanned)
    report(`${what}: download and scan, rows/s`, ROWS / scanned)
  }
} finally {
  objects.close()
  await egress.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}

async function putTable(format: string): Promise<{ name: string; megabytes: number }> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  const name = `table.${format}`
  const path = join(folder, name)
  const columns = Array.from({ length: COLUMNS }, (_, at) =>
    at % 4 === 0 ? `'city ' || range % 97 as c${at}` : `random() as c${at}`,
  )
  const options = { csv: 'header', ndjson: 'format json', parquet: 'format parquet' }[format]
  await connection.run(`copy (select ${columns.join(', ')} from range(${ROWS})) to '${path}' (${options})`)
  connection.closeSync()
  const { size } = await stat(path)
  const put = { Bucket: BUCKET, Key: name, Body: createReadStream(path), ContentLength: size }
  await server.client.send(new PutObjectCommand(put))
  await rm(path)
  return { name, megabytes: size / 1e6 }
}

/** Seconds. */
async function best(work: () => Promise<void>): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const begun = performance.now()
    await work()
    times.push((performance.now() - begun) / 1000)
  }
  return Math.min(...times)
}
