// What an event changes (contract 3.9, 6.1): the status it tells, where the entity can take that up next.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Sql } from '../../storage/sql.ts'
import { beginScanning, settleConnector } from '../connectors/connectors-store.ts'
import { failEvaluation, startReportedEvaluation, succeedEvaluation } from '../evaluations/evaluations-store.ts'
import type { TrainingStatus } from '../trainings/shapes.ts'
import { moveTraining, NEXT } from '../trainings/training-state-store.ts'
import type { Entity, EntityKind } from './entities-store.ts'
import type { WebhookPayload } from './shapes.ts'

type Apply = (sql: Sql, grant: SpaceGrant, now: string, event: WebhookPayload) => Promise<unknown>

const APPLY: Record<EntityKind, Apply> = {
  // A checkpoint has no status of its own; it keeps the event, and that is all.
  checkpoints: async () => {},

  async trainings(sql, grant, now, { id, status, payload }) {
    const from = now as TrainingStatus
    const to = NEXT[from].find((next) => next === status)
    // Only the service itself validates, and only it starts what it validated.
    if (to === undefined || to === 'validating' || to === 'queued') return
    await moveTraining(sql, grant, id, { from, to, reason: reasonIn(payload, to === 'failed') })
  },

  async evaluations(sql, grant, now, { id, status, payload }) {
    if (now === 'queued' && status === 'running') await startReportedEvaluation(sql, grant, id)
    if (now !== 'running') return
    if (status === 'failed') await failEvaluation(sql, grant, id, reasonIn(payload, true)!)
    const result = status === 'succeeded' ? resultIn(payload) : undefined
    if (result) await succeedEvaluation(sql, grant, id, result, undefined)
  },

  async connectors(sql, grant, now, { id, status, payload }) {
    if (now === 'active' && status === 'scanning') await beginScanning(sql, grant, id)
    if (now !== 'pending' && now !== 'scanning') return
    if (status === 'active') await settleConnector(sql, grant, id, now, undefined)
    if (status === 'error') await settleConnector(sql, grant, id, now, reasonIn(payload, true))
  },
}

export async function applyEvent(
  sql: Sql,
  grant: SpaceGrant,
  { kind }: Entity,
  now: string | undefined,
  event: WebhookPayload,
): Promise<void> {
  if (event.status === undefined) return
  await APPLY[kind](sql, grant, now ?? '', event)
}

function reasonIn(payload: WebhookPayload['payload'], isNeeded: boolean): string | undefined {
  const told = payload?.['error'] ?? payload?.['reason']
  if (typeof told === 'string' && told !== '') return told
  return isNeeded ? 'It was reported as failed' : undefined
}

/** Metrics and their values; anything else is no result. */
function resultIn(payload: WebhookPayload['payload']): Record<string, number> | undefined {
  const result = payload?.['result']
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined
  const entries = Object.entries(result)
  return entries.every((entry): entry is [string, number] => Number.isFinite(entry[1]))
    ? Object.fromEntries(entries)
    : undefined
}
