// An evaluation on the embedded engine: the checkpoint and the benchmark's files are fetched, and the metrics kept.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { CheckpointStore } from '../outside/checkpoint-store/checkpoint-store.ts'
import type { Program } from '../outside/compute/embedded/engine.ts'
import { getBenchmark } from '../resources/benchmarks/benchmarks-store.ts'
import { findStoredFiles, type StoredFiles } from '../resources/checkpoints/stored-checkpoints-store.ts'
import { findEvaluationAttempt, succeedEvaluation } from '../resources/evaluations/evaluations-store.ts'
import { DataProblem } from '../training/data-problem.ts'
import type { EvaluationResult } from '../training/evaluate-model.ts'
import type { Metric } from '../training/metrics.ts'
import type { CheckpointFiles } from '../training/model.ts'
import { runTrainer } from '../training/run-trainer.ts'
import { assertEngine } from './training-engine.ts'
import { bringFiles, findFiles } from './training-files.ts'
import { openAssignment, type ProgramServices } from './training-program.ts'

export function evaluationProgram(services: ProgramServices): Program {
  const { db, scratch, limits } = services
  return async ({ token, attempt, gpuCount }, { signal, log }) => {
    const { grant, id } = await openAssignment(services.system, token)
    await assertEngine(db, grant, gpuCount)
    const { benchmark, stored } = await db.as(grant, async (sql) => {
      const evaluation = await findEvaluationAttempt(sql, grant, id, attempt)
      const files = evaluation && (await findStoredFiles(sql, grant, evaluation.checkpoint_id))
      if (!files) throw new Error('The evaluation is gone')
      return { benchmark: await getBenchmark(sql, grant, evaluation.benchmark_id), stored: files }
    })
    await scratch.during(async (folder) => {
      const checkpoint = await bringCheckpoint(services.checkpoints, stored, folder)
      const found = await findFiles(services, grant, benchmark.connectors, signal)
      log(`Fetching ${found.length} files`)
      const data = await bringFiles(services, grant, found, folder, signal)
      const outputFolder = join(folder, 'out')
      await mkdir(outputFolder)
      const outcome = await runTrainer({ kind: 'evaluate', ...data, checkpoint, outputFolder, ...limits }, { signal })
      const { result, omitted } = chosen(outcome, benchmark.metrics)
      await db.begin(grant, (sql) => succeedEvaluation(sql, grant, id, result, omitted, attempt))
    })
  }
}

/** The metrics that the benchmark asks for; why some of them are missing goes into words. */
function chosen({ metrics, omitted }: EvaluationResult, wanted: readonly Metric[]) {
  const given = wanted.flatMap((metric) => (metrics[metric] === undefined ? [] : [[metric, metrics[metric]] as const]))
  const missing = wanted.flatMap((metric) => (omitted[metric] === undefined ? [] : [`${metric}: ${omitted[metric]}`]))
  return { result: Object.fromEntries(given), omitted: missing.length > 0 ? missing.join(' ') : undefined }
}

async function bringCheckpoint(store: CheckpointStore, stored: StoredFiles, folder: string): Promise<CheckpointFiles> {
  const path = join(folder, 'model')
  const encodingPath = join(folder, 'encoding')
  await bringWhole(store, stored.model_key, path, stored.sha256)
  await bringWhole(store, stored.encoding_key, encodingPath, stored.encoding_sha256)
  return { path, encodingPath }
}

async function bringWhole(store: CheckpointStore, key: string, path: string, sha256: string): Promise<void> {
  await store.fetch(key, path)
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  if (digest.digest('hex') !== sha256) {
    throw new DataProblem('The file of the checkpoint is damaged: it is not what was stored.')
  }
}
