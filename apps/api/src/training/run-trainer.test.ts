// Trainings and evaluations in processes of their own: what they tell, what they leave, and how they end.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parseEncoding } from './encoding.ts'
import type { Checkpoint, TrainJob } from './job.ts'
import { runTrainer, type TrainerOptions } from './run-trainer.ts'
import { crookedScore, syntheticData, toCsv } from './synthetic-data.ts'

const folder = mkdtempSync(join(tmpdir(), 'amphi-trainer-'))
after(() => rmSync(folder, { recursive: true }))
const outputFolder = () => mkdtempSync(join(folder, 'out-'))

function csv(name: string, text: string) {
  const path = join(mkdtempSync(join(folder, 'in-')), name)
  writeFileSync(path, text)
  return { path, name }
}

const limits = { threads: 2, memoryBytes: 2 ** 30 }
const learnable = csv('rows.csv', toCsv(syntheticData(3000, 5, crookedScore, 1)))

function job(changes: Partial<TrainJob> = {}): TrainJob {
  return {
    kind: 'train',
    files: [learnable],
    format: 'csv',
    architecture: 'gradient-boosted-trees',
    configuration: { target: 'y', trees: 10 },
    outputFolder: outputFolder(),
    ...limits,
    ...changes,
  }
}

async function checkpointsOf(wanted: TrainJob, options: TrainerOptions = {}): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  await runTrainer(wanted, { ...options, onCheckpoint: (checkpoint) => checkpoints.push(checkpoint) })
  return checkpoints
}

test('a checkpoint is kept at each improvement of the test loss, whole, the best one last', async () => {
  const wanted = job()
  const losses: number[] = []
  const checkpoints: Checkpoint[] = []
  const { best, steps, train_rows, test_rows } = await runTrainer(wanted, {
    onRound: ({ test_log_loss }) => losses.push(test_log_loss),
    onCheckpoint: (checkpoint) => checkpoints.push(checkpoint),
  })
  assert.equal(losses.length, steps)
  assert.equal(best.test_log_loss, Math.min(...losses))
  assert.equal(checkpoints.at(-1)!.step, best.step)
  const improved = losses.filter((loss, at) => loss < Math.min(...losses.slice(0, at)))
  assert.deepEqual(
    checkpoints.map(({ metrics }) => metrics.test_log_loss),
    improved,
  )
  assert.deepEqual([train_rows, test_rows], [2400, 600])
  const kept = [...checkpoints.map(({ path }) => path), checkpoints[0]!.encodingPath]
  assert.deepEqual(readdirSync(wanted.outputFolder).sort(), kept.map((path) => path.split('/').at(-1)).sort())
})

test('cancelling in the first round ends it at once and leaves nothing half written', async () => {
  const wanted = job({ configuration: { target: 'y', trees: 10_000, early_stopping: 0 } })
  const cancelled = new AbortController()
  const reason = new Error('cancelled by a person')
  const onRound = () => cancelled.abort(reason)
  await assert.rejects(runTrainer(wanted, { onRound, signal: cancelled.signal }), reason)
  for (const name of readdirSync(wanted.outputFolder)) {
    if (name.endsWith('.txt'))
      assert.match(readFileSync(join(wanted.outputFolder, name), 'utf8'), /pandas_categorical:null\n$/)
    else assert.equal(name, 'encoding.json')
  }
})

test('a signal that is already given starts nothing', async () => {
  const wanted = job()
  await assert.rejects(runTrainer(wanted, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  assert.deepEqual(readdirSync(wanted.outputFolder), [])
})

test('a trainer that is killed is told as that, and its folder for half-done work is removed', async () => {
  const wanted = job({ configuration: { target: 'y', trees: 10_000, early_stopping: 0 } })
  const onRound = () => {
    for (const pid of readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')) {
      process.kill(Number(pid), 'SIGKILL')
    }
  }
  await assert.rejects(
    runTrainer(wanted, { onRound }),
    /^DataProblem: The trainer was killed, most likely for want of memory/,
  )
  assert.ok(readdirSync(wanted.outputFolder).every((name) => !name.startsWith('.')))
})

test('rows without a target take no part and are counted', async () => {
  const files = [csv('gaps.csv', `x,y\n${'1,no\n2,yes\n3,\n'.repeat(40)}`)]
  const { rows_without_target, train_rows } = await runTrainer(job({ files }))
  assert.deepEqual([rows_without_target, train_rows], [40, 64])
})

test('a table that teaches nothing gives a model that says how frequent the positive class is', async () => {
  const files = [csv('constant.csv', `x,y\n${'1,0\n1,1\n1,0\n1,0\n'.repeat(20)}`)]
  const checkpoints = await checkpointsOf(job({ files }))
  assert.equal(checkpoints.length, 1)
  assert.match(readFileSync(checkpoints[0]!.path, 'utf8'), /num_leaves=1\n/)
  const { metrics } = await runTrainer({
    ...{ kind: 'evaluate', files, format: 'csv', checkpoint: checkpoints[0]!, outputFolder: outputFolder(), ...limits },
  } as const)
  assert.equal(metrics.roc_auc, 0.5)
})

test('a model that LightGBM wrote is evaluated from files, with what one class leaves undefined', async () => {
  const fixtures = new URL('../../test/fixtures/training/', import.meta.url).pathname
  const { features } = parseEncoding(readFileSync(`${fixtures}lightgbm-encoding.json`, 'utf8'))
  const { rows, probabilities } = JSON.parse(readFileSync(`${fixtures}lightgbm-rows.json`, 'utf8'))
  const lines = (rows as (number | null)[][]).map((row, at) => {
    const values = row.map((value, feature) => {
      const encoded = features[feature]!
      return encoded.kind === 'category' && value !== null ? encoded.categories[value] : (value ?? '')
    })
    return [...values, probabilities.nan[at] >= 0.5 ? 1 : 0].join(',')
  })
  const evaluated = (some: string[]) =>
    runTrainer({
      kind: 'evaluate',
      files: [csv('rows.csv', `a,b,city,store,y\n${some.join('\n')}\n`)],
      format: 'csv',
      checkpoint: { path: `${fixtures}lightgbm-nan.txt`, encodingPath: `${fixtures}lightgbm-encoding.json` },
      outputFolder: outputFolder(),
      ...limits,
    })
  const { metrics } = await evaluated(lines)
  assert.deepEqual([metrics.accuracy, metrics.f1, metrics.roc_auc], [1, 1, 1])
  const ofOneClass = await evaluated(lines.filter((line) => line.endsWith(',1')))
  assert.deepEqual(Object.keys(ofOneClass.omitted), ['roc_auc', 'ks', 'gini'])
  assert.equal(ofOneClass.metrics.recall, 1)
})

test('a fault in the data arrives as the reason it is, and nothing is left behind', async () => {
  const wanted = job({ files: [csv('broken.csv', 'x,y\n1,"0\n2,1\n')] })
  await assert.rejects(runTrainer(wanted), /^DataProblem: broken\.csv, line 2: a quoted value is not closed/)
  assert.deepEqual(readdirSync(wanted.outputFolder), [])
})
