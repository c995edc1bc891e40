// The trainer process when the service that started it goes away.
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { crookedScore, syntheticData, toCsv } from './synthetic-data.ts'

test('a trainer whose service is gone ends by itself and clears its half-done work', async () => {
  const outputFolder = mkdtempSync(join(tmpdir(), 'amphi-orphan-'))
  const scratchFolder = join(outputFolder, '.unfinished')
  const path = join(outputFolder, 'rows.csv')
  mkdirSync(scratchFolder)
  writeFileSync(path, toCsv(syntheticData(2000, 4, crookedScore, 1)))
  const trainer = fork(new URL('./trainer-process.ts', import.meta.url).pathname, { env: {} })
  trainer.send({
    type: 'start',
    scratchFolder,
    job: {
      kind: 'train',
      files: [{ path, name: 'rows.csv' }],
      format: 'csv',
      architecture: 'gradient-boosted-trees',
      configuration: { target: 'y', trees: 10_000, early_stopping: 0 },
      outputFolder,
      threads: 2,
      memoryBytes: 2 ** 30,
    },
  })
  await once(trainer, 'message')
  trainer.disconnect()
  await once(trainer, 'exit')
  assert.ok(!existsSync(scratchFolder))
  rmSync(outputFolder, { recursive: true })
})
