// Runs a training's threads and gives each round with the model as it is then.
import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Settings } from './configuration.ts'
import { crewControl } from './crew.ts'
import type { Encoding } from './encoding.ts'
import { writeLinear } from './linear/linear-model.ts'
import { makeLinearSpace } from './linear/linear-space.ts'
import type { Prepared } from './prepare.ts'
import type { Round } from './round.ts'
import type { ThreadData, ThreadMessage, Work } from './training-thread.ts'
import { writeLightgbm } from './trees/lightgbm-writer.ts'
import type { Tree } from './trees/tree.ts'
import { describeTrees } from './trees/tree-model.ts'
import { makeTreeSpace } from './trees/tree-space.ts'

export interface LearnedRound {
  round: Round
  improved: boolean
  /** The checkpoint file's text. */
  model(): string
}

export async function* learn(prepared: Prepared, settings: Settings, threads: number): AsyncGenerator<LearnedRound> {
  const work = toWork(prepared, settings, threads)
  const { encoding } = prepared
  const control = crewControl(threads)
  const failure = new AbortController()
  const workers = Array.from({ length: threads }, (_, member) => {
    const workerData: ThreadData = { work, control, member }
    const worker = new Worker(new URL('./training-thread.ts', import.meta.url), { workerData })
    worker.once('error', (error) => failure.abort(error))
    worker.once('exit', () => failure.abort(new Error('A training thread ended before its work was done.')))
    return worker
  })
  // The threads have the columns now and let go of them when they can; this one must not keep them either.
  for (const columns of columnsOf(prepared, work)) columns.length = 0
  const trees: Tree[] = []
  try {
    for await (const [message] of on(workers[0]!, 'message', { signal: failure.signal })) {
      const told: ThreadMessage = message
      if (told.type === 'finished') return
      const { round, improved, learned } = told
      if ('tree' in learned) trees.push(learned.tree)
      const model = () => ('linear' in learned ? writeLinear(learned.linear) : writeTrees(work, encoding, trees))
      yield { round, improved, model }
    }
  } catch (error) {
    throw failure.signal.aborted ? failure.signal.reason : error
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}

function toWork({ columns, labels, split }: Prepared, settings: Settings, threads: number): Work {
  const kinds = columns.map(({ kind }) => kind)
  if (settings.architecture === 'logistic-regression') {
    const space = makeLinearSpace(settings.configuration, columns, labels, split)
    return { architecture: settings.architecture, kinds, space }
  }
  const space = makeTreeSpace(settings.configuration, [...columns], labels, split, threads)
  return { architecture: settings.architecture, kinds, space }
}

const columnsOf = (prepared: Prepared, { space }: Work): unknown[][] =>
  'columns' in space ? [prepared.columns, space.columns] : [prepared.columns, space.numbers, space.categories]

function writeTrees(work: Work, encoding: Encoding, trees: Tree[]): string {
  if (work.architecture !== 'gradient-boosted-trees') throw new Error('A logistic regression has no trees.')
  return writeLightgbm({ ...describeTrees(work.space, encoding), trees })
}
