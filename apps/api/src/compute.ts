// The part of a process that computes: the embedded engine, and the workers that hand it trainings and evaluations.
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Services } from './contract/context.ts'
import { evaluationProgram } from './jobs/evaluation-program.ts'
import { evaluationRun } from './jobs/evaluation-run.ts'
import { reasonOf } from './jobs/training-faults.ts'
import { trainingProgram } from './jobs/training-program.ts'
import { trainingRemoveFiles } from './jobs/training-remove-files.ts'
import { trainingRun } from './jobs/training-run.ts'
import { trainingValidate } from './jobs/training-validate.ts'
import { Worker } from './jobs/worker.ts'
import type { CheckpointStore } from './outside/checkpoint-store/checkpoint-store.ts'
import { EmbeddedEngine } from './outside/compute/embedded/engine.ts'
import { Scratch } from './outside/compute/embedded/scratch.ts'
import type { Client } from './storage/sql.ts'

/** How soon another machine takes over from one that died. */
const LEASE_SECONDS = 15
/** An evaluation is short, and does not wait for a training to end. */
const EVALUATIONS_AT_ONCE = 1
/** They wait for stores most of the time, and some stores never answer. */
const VALIDATIONS_AT_ONCE = 16

export async function startCompute(
  config: Config,
  log: Logger,
  system: Client,
  services: Pick<Services, 'db' | 'vault' | 'objects' | 'jobs' | 'embedded'>,
  checkpoints: CheckpointStore,
): Promise<() => Promise<void>> {
  const { db, jobs, embedded } = services
  const scratch = new Scratch(join(config.dataDir, 'scratch'))
  await scratch.sweep()
  const { threads, memoryBytes, concurrency } = config.training
  const parts = { ...services, system, checkpoints, scratch, limits: { threads, memoryBytes } }
  const driver = new EmbeddedEngine({
    programs: { training: trainingProgram(parts), evaluation: evaluationProgram(parts) },
    explain: reasonOf,
    onError: (error, { id, kind, attempt }) => log.error({ err: error, [kind]: id, attempt }, 'a job broke down'),
    state: embedded.state,
  })
  const options = {
    leaseSeconds: LEASE_SECONDS,
    onError: (error: unknown) => log.warn({ err: error }, 'a job is tried again'),
  }
  const lookers = {
    'trainings.validate': trainingValidate(services),
    'checkpoints.remove-files': trainingRemoveFiles(checkpoints),
  }
  const workers = [
    new Worker(system, lookers, { ...options, concurrency: VALIDATIONS_AT_ONCE }),
    new Worker(system, { 'trainings.run': trainingRun({ db, jobs, driver }) }, { ...options, concurrency }),
    new Worker(
      system,
      { 'evaluations.run': evaluationRun({ db, driver }) },
      { ...options, concurrency: EVALUATIONS_AT_ONCE },
    ),
  ]
  for (const worker of workers) await worker.start()
  return async () => {
    await Promise.all(workers.map((worker) => worker.stop()))
  }
}
