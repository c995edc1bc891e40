// Looks at what a training asks for before it takes a place in the queue (contract 3.3): settings, engine, files.
import { grantForJob } from '../access/job-grant.ts'
import type { SpaceGrant } from '../base/grant.ts'
import { Problem } from '../base/problem.ts'
import { isPassing } from '../outside/object-store/store-problems.ts'
import { pinFiles } from '../resources/trainings/progress-store.ts'
import { findStanding, moveTraining } from '../resources/trainings/training-state-store.ts'
import { findTrainingRow, type TrainingRow } from '../resources/trainings/trainings-store.ts'
import type { Job, Jobs } from '../storage/jobs.ts'
import { parseSettings } from '../training/configuration.ts'
import { assertEngine, untilUnwanted } from './training-engine.ts'
import { reasonOf } from './training-faults.ts'
import { type FileServices, findFiles } from './training-files.ts'
import type { Handler } from './worker.ts'

/** A store that is away for a moment should not fail a training; one that stays away is told. */
const TRIES_WHILE_AWAY = 3

export function trainingValidate(services: FileServices & { readonly jobs: Jobs }): Handler {
  const { db, jobs } = services

  const fail = async (job: Job, reason: string) => {
    const grant = grantForJob(job)
    const { id, revision } = idsOf(job)
    await db.begin(grant, (sql) => moveTraining(sql, grant, id, { from: 'validating', to: 'failed', reason, revision }))
  }

  const look = async (grant: SpaceGrant, training: TrainingRow, signal: AbortSignal) => {
    parseSettings(training.architecture, training.configuration)
    await assertEngine(db, grant, training.gpu_count)
    return findFiles(services, grant, training.connectors, signal)
  }

  const validate = async (job: Job, signal: AbortSignal) => {
    const grant = grantForJob(job)
    const { id, revision } = idsOf(job)
    const training = await db.as(grant, (sql) => findTrainingRow(sql, grant, id))
    if (training?.status !== 'validating' || training.revision !== revision) return
    const isWanted = async () => {
      const now = await db.as(grant, (sql) => findStanding(sql, grant, id))
      return now?.status === 'validating' && now.revision === revision
    }
    const wanted = untilUnwanted(isWanted, signal)
    try {
      const files = await look(grant, training, wanted.signal)
      await db.begin(grant, async (sql) => {
        if (!(await pinFiles(sql, grant, id, revision, files))) return
        await moveTraining(sql, grant, id, { from: 'validating', to: 'queued' })
        await jobs.enqueue(sql, grant, 'trainings.run', { id, revision })
      })
    } catch (error) {
      signal.throwIfAborted()
      if (wanted.signal.aborted) return
      const reason = reasonOf(error)
      const mayPass = error instanceof Problem && isPassing(error) && job.attempt < TRIES_WHILE_AWAY
      if (reason === undefined || mayPass) throw error
      await fail(job, reason)
    } finally {
      wanted.end()
    }
  }

  return Object.assign(validate, { giveUp: (job: Job) => fail(job, 'The training could not be validated') })
}

const idsOf = ({ payload }: Job) => ({ id: String(payload['id']), revision: Number(payload['revision']) })
