// A whole training: reads the data, learns, and keeps a checkpoint at each improvement of the test loss.
import { parseSettings } from './configuration.ts'
import type { DataLimits } from './data/database.ts'
import { DataProblem } from './data-problem.ts'
import { writeDurably } from './durable-file.ts'
import type { Checkpoint, TrainingResult, TrainJob } from './job.ts'
import { learn } from './learn.ts'
import { prepare } from './prepare.ts'
import type { Round } from './round.ts'

export interface TrainingEvents {
  onRound(round: Round): void
  onCheckpoint(checkpoint: Checkpoint): void
}

export async function train(job: TrainJob, limits: DataLimits, events: TrainingEvents): Promise<TrainingResult> {
  const { files, format, outputFolder, threads, memoryBytes } = job
  const settings = parseSettings(job.architecture, job.configuration)
  const prepared = await prepare(files, format, settings, limits, memoryBytes)
  const { labels, split, encoding } = prepared
  const write = (name: string, text: string) => writeDurably(outputFolder, limits.scratchFolder, name, text)
  const encoded = await write('encoding.json', `${JSON.stringify(encoding, undefined, 1)}\n`)
  const extension = settings.architecture === 'gradient-boosted-trees' ? 'txt' : 'json'
  let last: Round | undefined
  let best: Round | undefined
  for await (const { round, improved, model } of learn(prepared, settings, threads)) {
    events.onRound(round)
    last = round
    if (!improved) continue
    best = round
    const { step, total_steps: _, ...metrics } = round
    const written = await write(`step-${String(step).padStart(6, '0')}.${extension}`, model())
    events.onCheckpoint({ ...written, encodingPath: encoded.path, encodingSha256: encoded.sha256, step, metrics })
  }
  if (!last) throw new Error('The training ended without a round.')
  if (!best) throw new DataProblem('The test loss is not a number: some values are too far from the others.')
  const [train_rows, test_rows] = [split.train.length, split.test.length]
  return { steps: last.step, best, train_rows, test_rows, rows_without_target: labels.length - train_rows - test_rows }
}
