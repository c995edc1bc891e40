// What an event changes (contract 3.9, 6.1): the status it tells, where the entity can take that up next.
import type { SpaceGrant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import type { Jobs } from '../../storage/jobs.ts'
import type { Sql } from '../../storage/sql.ts'
import { settleConnector } from '../connectors/connectors-store.ts'
import { failEvaluation, startReportedEvaluation, succeedEvaluation } from '../evaluations/evaluations-store.ts'
import type { TrainingStatus } from '../trainings/shapes.ts'
import { succeedTraining } from '../trainings/succeed.ts'
import { beginCancelling, moveTraining, NEXT } from '../trainings/training-state-store.ts'
import type { Entity, EntityKind } from './entities-store.ts'
import type { WebhookPayload } from './shapes.ts'

type Apply = (sql: Sql, grant: SpaceGrant, jobs: Jobs, now: string, event: WebhookPayload) => Promise<unknown>

const APPLY: Record<EntityKind, Apply> = {
  // A checkpoint has no status of its own; it keeps the event, and that is all.
  checkpoints: async () => {},

  async trainings(sql, grant, jobs, now, { id, status, payload }) {
    const from = now as TrainingStatus
    const to = NEXT[from].find((next) => next === status)
    // Only the service itself validates, and only it starts what it validated.
    if (to === undefined || to === 'validating' || to === 'queued') return
    const reason = reasonIn(payload, to === 'failed')
    if (to === 'succeeded') return succeedTraining(sql, grant, jobs, id, { reason })
    if (to === 'cancelling') return beginCancelling(sql, grant, id, from, reason)
    await moveTraining(sql, grant, id, { from, to, reason })
  },

  async evaluations(sql, grant, _, now, { id, status, payload }) {
    if (now === 'queued' && status === 'running') await startReportedEvaluation(sql, grant, id)
    if (now !== 'running') return
    if (status === 'failed') await failEvaluation(sql, grant, id, reasonIn(payload, true)!)
    const result = status === 'succeeded' ? resultIn(payload) : undefined
    if (result) await succeedEvaluation(sql, grant, id, result, undefined)
  },

  // A scan is of certain files, and an event names none: only the service itself begins one.
  async connectors(sql, grant, _, now, { id, status, payload }) {
    if (now !== 'pending' && now !== 'scanning') return
    if (status === 'active') await settleConnector(sql, grant, id, now, undefined)
    if (status === 'error') await settleConnector(sql, grant, id, now, reasonIn(payload, true))
  },
}

export async function applyEvent(
  sql: Sql,
  grant: SpaceGrant,
  jobs: Jobs,
  { kind }: Entity,
  now: string | undefined,
  event: WebhookPayload,
): Promise<void> {
  if (event.status === undefined) return
  await APPLY[kind](sql, grant, jobs, now ?? '', event)
}

function reasonIn(payload: WebhookPayload['payload'], isNeeded: boolean): string | undefined {
  const told = payload?.['error'] ?? payload?.['reason']
  if (typeof told === 'string' && told !== '') return told
  return isNeeded ? 'It was reported as failed' : undefined
}

/** An average squares what it sums, and must not leave the range of numbers while it does. */
const VALUE_MAX = 1e100

/** Metrics and their values; anything else is no result. */
function resultIn(payload: WebhookPayload['payload']): Record<string, number> | undefined {
  const result = payload?.['result']
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined
  const entries = Object.entries(result)
  if (!entries.every((entry): entry is [string, number] => Number.isFinite(entry[1]))) return undefined
  const large = entries.find(([, value]) => Math.abs(value) > VALUE_MAX)
  if (large) {
    const message = `payload.result.${large[0]} must be between -${VALUE_MAX} and ${VALUE_MAX}`
    throw new Problem('invalid_request', message, { param: 'payload' })
  }
  return Object.fromEntries(entries)
}
