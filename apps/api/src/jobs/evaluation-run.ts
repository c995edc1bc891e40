// Runs an evaluation, or takes one up whose process died, and settles how it ended (contract 3.4).
import { grantForJob } from '../access/job-grant.ts'
import { beginEvaluation, failEvaluation, findEvaluationAttempt } from '../resources/evaluations/evaluations-store.ts'
import { newJobToken } from '../resources/webhooks/job-token.ts'
import type { Job } from '../storage/jobs.ts'
import { everyNowAndThen, runOn } from './training-engine.ts'
import { type RunServices, TRIES_MAX } from './training-run.ts'
import type { Handler } from './worker.ts'

export function evaluationRun({ db, driver }: Pick<RunServices, 'db' | 'driver'>): Handler {
  const fail = async (job: Job, reason: string, attempt?: number) => {
    const grant = grantForJob(job)
    await db.as(grant, (sql) => failEvaluation(sql, grant, idOf(job), reason, attempt))
  }
  const giveUp = (job: Job) => fail(job, `The evaluation was interrupted ${TRIES_MAX} times and is not tried again`)

  const run = async (job: Job, signal: AbortSignal) => {
    if (job.attempt > TRIES_MAX) return giveUp(job)
    const grant = grantForJob(job)
    const id = idOf(job)
    const { token, ...kept } = newJobToken()
    const begun = await db.as(grant, (sql) => beginEvaluation(sql, grant, id, kept))
    if (!begun) return
    const { attempt, gpu_count: gpuCount } = begun
    const isWanted = everyNowAndThen(
      async () => (await db.as(grant, (sql) => findEvaluationAttempt(sql, grant, id, attempt))) !== undefined,
    )
    const end = await runOn(driver, { id, attempt, kind: 'evaluation', gpuCount, token }, signal, isWanted)
    if (end.phase === 'stopped') return signal.throwIfAborted()
    if (end.phase === 'unknown') throw new Error(end.reason)
    if (end.phase === 'failed') await fail(job, end.reason ?? 'The evaluation failed', attempt)
  }

  return Object.assign(run, { giveUp })
}

const idOf = ({ payload }: Job) => String(payload['id'])
