// A million personas at once, and uploads whose service or database is killed under them (contract 4.2.12).
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { answersDuring, countPersonas, finalizeUpload, peakMiB, personasForm, uploadForm } from '../support/bulk.ts'
import { type ServiceProcess, spawnService } from '../support/processes.ts'

const MANY = 1_000_000
const SOME = 100_000

let dataDir: string
let service: ServiceProcess

before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'amphi-upload-'))
})
after(async () => {
  await service.kill('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
})

test('uploads that are killed leave nothing, finalizations nothing or everything', { timeout: 300_000 }, async (t) => {
  const form = personasForm(SOME)
  const victims = {
    'the service': () => service.child.kill('SIGKILL'),
    'the database': () => {
      const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
    },
  }
  const restart = async () => {
    await service.kill('SIGKILL')
    service = await spawnService({ DATA_DIR: dataDir })
  }
  service = await spawnService({ DATA_DIR: dataDir })
  let expected = 0
  for (const [victim, strike] of Object.entries(victims)) {
    for (const share of [0.2, 0.6]) {
      await struck(uploadForm(service, form), 2500 * share, strike)
      await restart()
      assert.equal(await countPersonas(service), expected, `${victim} was killed during an upload`)

      const { status, body } = await uploadForm(service, form)
      assert.equal(status, 200, JSON.stringify(body))
      await struck(finalizeUpload(service, body.upload_token, 'create'), 2500 * share, strike)
      await restart()
      const count = await countPersonas(service)
      t.diagnostic(`${victim} was killed during a finalization: ${count - expected} of ${SOME} are there`)
      const again = await finalizeUpload(service, body.upload_token, 'create')
      assert.deepEqual([count, again.status], count === expected ? [expected, 200] : [expected + SOME, 409])
      expected += SOME
      assert.equal(await countPersonas(service), expected)
    }
  }
  await service.kill('SIGTERM')
})

/** Strikes while a request is under way. What it came to, nobody can tell from here. */
async function struck(request: Promise<unknown>, afterMs: number, strike: () => void): Promise<void> {
  const settled = Promise.allSettled([request])
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  strike()
  await settled
}

test('a million personas are staged and finalized in time and memory', { timeout: 300_000 }, async (t) => {
  service = await spawnService({ DATA_DIR: join(dataDir, 'many') })
  const staged = await answersDuring(service, uploadForm(service, personasForm(MANY)))
  assert.equal(staged.result.status, 200, JSON.stringify(staged.result.body))
  assert.equal(staged.result.body.total, MANY)
  assert.equal(await countPersonas(service), 0)
  t.diagnostic(
    `upload: ${Math.round(MANY / staged.seconds)} rows/s, others answered in ${staged.p99.toFixed()} ms (p99)`,
  )

  const finalized = await answersDuring(service, finalizeUpload(service, staged.result.body.upload_token))
  assert.equal(finalized.result.body.total_uploaded, MANY, JSON.stringify(finalized.result.body))
  assert.equal(await countPersonas(service), MANY)
  t.diagnostic(`finalize: ${finalized.seconds.toFixed(1)} s, others answered in ${finalized.p99.toFixed()} ms (p99)`)
  t.diagnostic(`memory: ${peakMiB(service).toFixed()} MiB at the peak`)

  assert.ok(MANY / staged.seconds > 20_000)
  assert.ok(finalized.seconds < 60)
  assert.ok(peakMiB(service) < 300)
  assert.ok(Math.max(staged.p99, finalized.p99) < 500)
})
