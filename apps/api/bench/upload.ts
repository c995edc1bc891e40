// What a bulk upload takes: a million personas as CSV, staged and finalized, and how the service answers meanwhile.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  answersDuring,
  countPersonas,
  finalizeUpload,
  peakMiB,
  personasForm,
  uploadForm,
} from '../test/support/bulk.ts'
import { call, spawnService } from '../test/support/processes.ts'
import { report } from './support/measure.ts'

const ROWS = Number(process.argv[2] ?? 1_000_000)

const dataDir = await mkdtemp(join(tmpdir(), 'amphi-bench-'))
const service = await spawnService({ DATA_DIR: dataDir })
try {
  const body = personasForm(ROWS)
  report('bytes of the upload, MB', body.length / 1e6)
  report('memory before, MiB', peakMiB(service))

  const staged = await answersDuring(service, uploadForm(service, body))
  if (staged.result.status !== 200) throw new Error(JSON.stringify(staged.result.body))
  report('upload, s', staged.seconds)
  report('upload, rows/s (at least 20,000)', ROWS / staged.seconds)
  report('another request meanwhile, ms, median', staged.median)
  report('another request meanwhile, ms, 99 of 100', staged.p99)

  const { upload_token } = staged.result.body
  const finalized = await answersDuring(service, finalizeUpload(service, upload_token))
  if (finalized.result.status !== 200) throw new Error(JSON.stringify(finalized.result.body))
  report('finalize, s (under 60)', finalized.seconds)
  report('another request meanwhile, ms, median', finalized.median)
  report('another request meanwhile, ms, 99 of 100', finalized.p99)
  report('memory at its peak, MiB (under 300)', peakMiB(service))

  if ((await countPersonas(service)) !== ROWS) throw new Error('There are not as many personas as rows')
  const asked = performance.now()
  await call(service, 'GET', `/v1/spaces/${service.space}/personas`)
  report('first page of all of them, ms', performance.now() - asked)
} finally {
  await service.kill('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
}
