// Runs a training that waits in the queue, or takes one up whose process died, and settles how it ended (contract 3.3).
import { grantForJob } from '../access/job-grant.ts'
import type { SpaceGrant } from '../base/grant.ts'
import type { ComputeDriver, ComputeStatus } from '../outside/compute/driver.ts'
import { succeedTraining } from '../resources/trainings/succeed.ts'
import { beginAttempt, findStanding, moveTraining } from '../resources/trainings/training-state-store.ts'
import { newJobToken } from '../resources/webhooks/job-token.ts'
import type { Database } from '../storage/database.ts'
import type { Job, Jobs } from '../storage/jobs.ts'
import { everyNowAndThen, runOn } from './training-engine.ts'
import type { Handler } from './worker.ts'

/** Tries that took their process down or found the database away; being asked to stop does not count. */
export const TRIES_MAX = 3

export interface RunServices {
  readonly db: Database
  readonly jobs: Jobs
  readonly driver: ComputeDriver
}

export function trainingRun({ db, jobs, driver }: RunServices): Handler {
  const giveUp = async (job: Job) => {
    const grant = grantForJob(job)
    const { id } = idsOf(job)
    const reason = `The training was interrupted ${TRIES_MAX} times and is not tried again`
    await db.begin(grant, async (sql) => {
      const failed = await moveTraining(sql, grant, id, { from: 'running', to: 'failed', reason })
      if (!failed) await moveTraining(sql, grant, id, { from: 'queued', to: 'failed', reason })
    })
    // Whoever was asked to stop it died instead.
    await finishCancelling(db, grant, id)
  }

  const settle = (grant: SpaceGrant, id: string, attempt: number, { phase, reason }: ComputeStatus) =>
    db.begin(grant, async (sql) => {
      if (phase === 'failed') {
        return moveTraining(sql, grant, id, { from: 'running', to: 'failed', attempt, reason })
      }
      return succeedTraining(sql, grant, jobs, id, { attempt })
    })

  const run = async (job: Job, signal: AbortSignal) => {
    if (job.attempt > TRIES_MAX) return giveUp(job)
    const grant = grantForJob(job)
    const { id, revision } = idsOf(job)
    const { token, ...kept } = newJobToken()
    const begun = await db.begin(grant, (sql) => beginAttempt(sql, grant, id, revision, kept))
    // Whoever ran it died before it could stop.
    if (!begun) return void (await finishCancelling(db, grant, id))

    const { attempt, gpu_count: gpuCount } = begun
    const isWanted = everyNowAndThen(async () => {
      const now = await db.as(grant, (sql) => findStanding(sql, grant, id))
      return now?.status === 'running' && now.attempt === attempt
    })
    const end = await runOn(driver, { id, attempt, kind: 'training', gpuCount, token }, signal, isWanted)
    if (end.phase === 'stopped') {
      signal.throwIfAborted()
      return void (await finishCancelling(db, grant, id, attempt))
    }
    if (end.phase === 'unknown') throw new Error(end.reason)
    if (!(await settle(grant, id, attempt, end))) await finishCancelling(db, grant, id, attempt)
  }

  return Object.assign(run, { giveUp })
}

const finishCancelling = (db: Database, grant: SpaceGrant, id: string, attempt?: number) =>
  db.begin(grant, (sql) =>
    moveTraining(sql, grant, id, { from: 'cancelling', to: 'cancelled', ...(attempt !== undefined && { attempt }) }),
  )

const idsOf = ({ payload }: Job) => ({ id: String(payload['id']), revision: Number(payload['revision']) })
