// Trainings as a whole: how good they are, how repeatable, and what they say about data they cannot use.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { evaluateModel } from './evaluate-model.ts'
import type { Checkpoint, TrainJob } from './job.ts'
import { ranking } from './metrics.ts'
import { loadModel } from './model.ts'
import { crookedScore, linearScore, type Score, syntheticData, toCsv } from './synthetic-data.ts'
import { train } from './train.ts'

const folder = mkdtempSync(join(tmpdir(), 'amphi-train-'))
after(() => rmSync(folder, { recursive: true }))
const limits = () => ({ threads: 2, memoryBytes: 256 << 20, scratchFolder: mkdtempSync(join(folder, 'scratch-')) })

function csv(name: string, text: string) {
  const path = join(mkdtempSync(join(folder, 'in-')), name)
  writeFileSync(path, text)
  return { path, name }
}

const learnable = csv('rows.csv', toCsv(syntheticData(3000, 5, crookedScore, 1)))

function job(changes: Partial<TrainJob>): TrainJob {
  return {
    kind: 'train',
    files: [learnable],
    format: 'csv',
    architecture: 'gradient-boosted-trees',
    configuration: { target: 'y' },
    outputFolder: mkdtempSync(join(folder, 'out-')),
    threads: 2,
    memoryBytes: 2 ** 30,
    ...changes,
  }
}

const known: [TrainJob['architecture'], Score, object][] = [
  ['logistic-regression', linearScore, { epochs: 10 }],
  ['gradient-boosted-trees', crookedScore, { trees: 60, leaves: 12 }],
]

async function checkpointsOf(wanted: TrainJob): Promise<Checkpoint[]> {
  const checkpoints: Checkpoint[] = []
  await train(wanted, limits(), { onRound() {}, onCheckpoint: (checkpoint) => checkpoints.push(checkpoint) })
  return checkpoints
}

for (const [architecture, score, settings] of known) {
  test(`${architecture} comes within 0.005 of the best possible area under the curve`, async () => {
    const files = [csv('train.csv', toCsv(syntheticData(20_000, 6, score, 1)))]
    const unseen = syntheticData(20_000, 6, score, 2)
    const checkpoints = await checkpointsOf(job({ files, architecture, configuration: { target: 'y', ...settings } }))
    const model = await loadModel(checkpoints.at(-1)!)
    const { metrics } = await evaluateModel(model, [csv('unseen.csv', toCsv(unseen))], 'csv', limits())
    const best = ranking(unseen.labels, unseen.probabilities)!.roc_auc
    assert.ok(best - metrics.roc_auc! < 0.005, `${metrics.roc_auc} of ${best}`)
  })

  test(`${architecture} gives the same checkpoints to the last bit with one seed and any number of threads`, async () => {
    const files = [csv('train.csv', toCsv(syntheticData(8000, 11, score, 1)))]
    const configuration = { target: 'y', seed: 7, ...settings }
    const [first, ...others] = await Promise.all(
      [2, 2, 1, 3].map((threads) => checkpointsOf(job({ files, architecture, configuration, threads }))),
    )
    const marks = (checkpoints: Checkpoint[]) => checkpoints.map(({ sha256, metrics }) => ({ sha256, metrics }))
    assert.ok(first!.length > 1)
    for (const other of others) assert.deepEqual(marks(other), marks(first!))
    const reseeded = await checkpointsOf(job({ files, architecture, configuration: { ...configuration, seed: 8 } }))
    assert.notEqual(reseeded.at(-1)!.sha256, first!.at(-1)!.sha256)
  })
}

const faults: [string, Partial<TrainJob>, RegExp][] = [
  [
    'an open quote',
    { files: [csv('q.csv', 'x,y\n1,"0\n2,1\n')] },
    /^DataProblem: q\.csv, line 2: a quoted value is not closed/,
  ],
  [
    'a target of three values',
    { files: [csv('t.csv', 'x,y\n1,0\n2,1\n3,2\n')] },
    /more than two values \(0, 1, 2, …\)/,
  ],
  ['no such target', { configuration: { target: 'z' } }, /no column z, which is to be the target/],
  ['no such feature', { configuration: { target: 'y', features: ['x0', 'q'] } }, /no column q/],
  [
    'a target that is a feature',
    { configuration: { target: 'y', features: ['y'] } },
    /cannot be the target and a feature/,
  ],
  ['nothing besides the target', { files: [csv('y.csv', 'y\n0\n1\n')] }, /no column besides the target y/],
  ['one row of a class', { files: [csv('one.csv', 'x,y\n1,0\n2,0\n3,1\n')] }, /at least two rows of each class/],
  ['an unknown setting', { configuration: { target: 'y', depth: 3 } }, /depth is not a setting/],
  ['an unknown architecture', { architecture: 'lstm' }, /lstm is not offered/],
  ['too little memory', { memoryBytes: 1000 }, /3000 rows of 6 columns need about 0\.0 GiB/],
  ['a text file as Parquet', { format: 'parquet' }, /rows\.csv: this is not a whole Parquet file/],
  ['a NUL character', { files: [csv('nul.csv', 'x,y\na\0b,0\nc,1\n')] }, /column x holds a NUL character/],
  ['no files', { files: [] }, /no files/],
]

for (const [what, changes, message] of faults) {
  test(`${what} ends the training with its reason and nothing left behind`, async () => {
    const wanted = job(changes)
    await assert.rejects(train(wanted, limits(), { onRound() {}, onCheckpoint() {} }), message)
    assert.deepEqual(readdirSync(wanted.outputFolder), [])
  })
}

test('a row too far from the others to give a loss is told as a fault of the data', async () => {
  const rows = Array.from({ length: 40 }, (_, at) => `${at},${-at},${at < 20 ? 0 : 1}`)
  // The first row is one of the test rows: its two columns pull to opposite sides without bounds.
  const files = [csv('far.csv', `a,b,y\n${['1e300,1e300,0', ...rows].join('\n')}\n`)]
  const settings = { target: 'y', test_fraction: 0.5, seed: 1 }
  const wanted = job({ files, architecture: 'logistic-regression', configuration: settings })
  await assert.rejects(checkpointsOf(wanted), { name: 'DataProblem', message: /^The test loss is not a number/ })
})
