// How long the embedded trainer takes for a tree and for an epoch on 800,000 rows of 50 features, and, where
// LIGHTGBM_PYTHON names a Python that has it, how long LightGBM takes for a tree on the same rows.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSettings } from '../src/training/configuration.ts'
import type { NumberColumn } from '../src/training/data/table.ts'
import { learn } from '../src/training/learn.ts'
import { seededRandom } from '../src/training/random.ts'
import type { Split } from '../src/training/split.ts'

const TRAIN_ROWS = 800_000
const TEST_ROWS = 80_000
const FEATURES = 50
const ROUNDS = 20
const threads = availableParallelism()

const rows = TRAIN_ROWS + TEST_ROWS
const columns = Array.from({ length: FEATURES }, (_, feature): NumberColumn => {
  const random = seededRandom(feature)
  const values = new Float32Array(new SharedArrayBuffer(rows * 4))
  for (let row = 0; row < rows; row++) values[row] = random() + random() + random() - 1.5
  return { name: `x${feature}`, kind: 'number', values }
})
const random = seededRandom(FEATURES)
const labels = Uint8Array.from({ length: rows }, (_, row) => {
  const [a, b, c, d] = columns.map(({ values }) => values[row]!) as [number, number, number, number]
  return random() < 1 / (1 + Math.exp(-(2 * a - 1.5 * b + 4 * c * d))) ? 1 : 0
})

/** The median time from one round to the next; the first one, which also prepares the rows, is told apart. */
async function paceOf(architecture: string, settings: object) {
  const split: Split = {
    train: Uint32Array.from({ length: TRAIN_ROWS }, (_, row) => row),
    test: Uint32Array.from({ length: TEST_ROWS }, (_, row) => TRAIN_ROWS + row),
  }
  const encoding = {
    version: 1 as const,
    target: { name: 'y', negative: 0, positive: 1 },
    features: columns.map(({ name, kind }) => ({ name, kind })),
  }
  const times = [performance.now()]
  let auc = 0
  const parsed = parseSettings(architecture, { target: 'y', ...settings })
  for await (const { round } of learn({ encoding, columns: [...columns], labels, split }, parsed, threads)) {
    times.push(performance.now())
    auc = round.test_roc_auc
  }
  const gaps = times.slice(1).map((time, at) => (time - times[at]!) / 1000)
  const [first, ...others] = gaps as [number, ...number[]]
  const median = others.sort((one, other) => one - other)[others.length >> 1]!
  return `${median.toFixed(3)} s (the first, with preparing the rows, ${first.toFixed(1)} s); test AUC ${auc.toFixed(4)}`
}

const PEER = `
import sys, time, numpy as np, lightgbm as lgb
folder, rows, features, rounds, threads = sys.argv[1], *map(int, sys.argv[2:])
X = np.fromfile(folder + '/x', dtype=np.float32).reshape(features, rows).T
y = np.fromfile(folder + '/y', dtype=np.uint8)
data = lgb.Dataset(np.ascontiguousarray(X), y, params={'max_bin': 255, 'verbose': -1}).construct()
booster = lgb.Booster({'objective': 'binary', 'num_leaves': 31, 'learning_rate': 0.1, 'num_threads': threads, 'verbose': -1}, data)
times = []
for _ in range(rounds):
    start = time.perf_counter()
    booster.update()
    times.append(time.perf_counter() - start)
print(f'LightGBM {lgb.__version__}, a tree: {sorted(times)[rounds // 2]:.3f} s')
`

function peer(python: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'amphi-bench-'))
  try {
    const trained = columns.map(({ values }) => Buffer.from(values.buffer, 0, TRAIN_ROWS * 4))
    writeFileSync(join(folder, 'x'), Buffer.concat(trained))
    writeFileSync(join(folder, 'y'), labels.subarray(0, TRAIN_ROWS))
    const sizes = [TRAIN_ROWS, FEATURES, ROUNDS, threads].map(String)
    return execFileSync(python, ['-c', PEER, folder, ...sizes], { encoding: 'utf8' }).trim()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

console.log(
  `${TRAIN_ROWS} rows of ${FEATURES} features, ${threads} threads; each round also scores ${TEST_ROWS} test rows`,
)
console.log(`a tree: ${await paceOf('gradient-boosted-trees', { trees: ROUNDS, early_stopping: 0 })}`)
console.log(`an epoch: ${await paceOf('logistic-regression', { epochs: ROUNDS })}`)
const python = process.env['LIGHTGBM_PYTHON']
console.log(python ? peer(python) : 'LightGBM is absent: LIGHTGBM_PYTHON names no Python that has it')
