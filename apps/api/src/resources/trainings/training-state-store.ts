// The states of a training (contract 3.3): every step is a compare-and-set with its event in the same transaction.
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import type { Sql } from '../../storage/sql.ts'
import type { TrainingStatus } from './shapes.ts'

/** What may follow what. A change of what is to be trained sends it back to validating. */
export const NEXT: Readonly<Record<TrainingStatus, readonly TrainingStatus[]>> = {
  validating: ['queued', 'failed', 'cancelling'],
  queued: ['validating', 'running', 'failed', 'cancelling'],
  running: ['succeeded', 'failed', 'cancelling'],
  cancelling: ['cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
}

export const isFinal = (status: TrainingStatus): boolean => NEXT[status].length === 0

export interface Step {
  readonly from: TrainingStatus
  readonly to: TrainingStatus
  readonly reason?: string | undefined
  /** Given by whoever runs it: nothing happens once another attempt has begun. */
  readonly attempt?: number
  /** Given by whoever validates it: nothing happens once something else is to be trained. */
  readonly revision?: number
}

const one = (sql: Sql, grant: SpaceGrant, id: string) =>
  sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${id}`

/** False when the training is no longer where the step starts. Call it inside a transaction. */
export async function moveTraining(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  { from, to, reason, attempt, revision }: Step,
): Promise<boolean> {
  if (!NEXT[from].includes(to)) throw new Error(`A training does not go from ${from} to ${to}`)
  const [moved] = await sql<{ attempt: number }[]>`
    update trainings set status = ${to}, error = ${to === 'failed' ? (reason ?? 'It failed') : null}, updated_at = now(),
      token_hash = ${isFinal(to) ? null : sql`token_hash`}
    where ${one(sql, grant, id)} and status = ${from}
      and ${attempt === undefined ? sql`true` : sql`attempt = ${attempt}`}
      and ${revision === undefined ? sql`true` : sql`revision = ${revision}`}
    returning attempt`
  if (moved) await addEvent(sql, grant, id, to, moved.attempt, reason)
  return moved !== undefined
}

/** What has not begun is cancelled at once; what runs is asked to stop. Call it inside a transaction. */
export async function beginCancelling(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  from: TrainingStatus,
  reason: string | undefined,
): Promise<void> {
  const begun = await moveTraining(sql, grant, id, { from, to: 'cancelling', reason })
  if (begun && from !== 'running') await moveTraining(sql, grant, id, { from: 'cancelling', to: 'cancelled' })
}

/** Where a training stands; for those who look every second and want no more. */
export async function findStanding(sql: Sql, grant: SpaceGrant, id: string) {
  const [standing] = await sql<{ status: TrainingStatus; attempt: number; revision: number }[]>`
    select status, attempt, revision from trainings where ${one(sql, grant, id)}`
  return standing
}

export interface Attempt {
  readonly attempt: number
  readonly gpu_count: number
}

/** Starts running it, or takes it up from a process that died. The token is what the attempt reports with. */
export async function beginAttempt(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  revision: number,
  token: { readonly hash: string; readonly lifeSeconds: number },
): Promise<Attempt | undefined> {
  const [begun] = await sql<(Attempt & { resumed: boolean })[]>`
    with before as (select status from trainings where ${one(sql, grant, id)} for update)
    update trainings set status = 'running', attempt = attempt + 1, updated_at = now(), token_hash = ${token.hash},
      token_expires_at = now() + make_interval(secs => ${token.lifeSeconds})
    from before
    where ${one(sql, grant, id)} and revision = ${revision} and before.status in ('queued', 'running')
    returning attempt, gpu_count, before.status = 'running' as resumed`
  if (!begun) return undefined
  const reason = begun.resumed ? 'Taken up again after an interruption' : undefined
  await addEvent(sql, grant, id, 'running', begun.attempt, reason)
  return begun
}

/** Also wakes whoever follows the training, once the transaction is through. */
export async function addEvent(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  status: TrainingStatus,
  attempt: number,
  reason?: string,
): Promise<void> {
  await sql`
    insert into training_events (tenant_id, space_id, training_id, id, status, attempt, reason)
    values (${grant.tenantId}, ${grant.spaceId}, ${id}, ${newId()}, ${status}, ${attempt}, ${reason ?? null})`
  await announce(sql, id)
}

export async function announce(sql: Sql, id: string): Promise<void> {
  await sql`select pg_notify('amphi_trainings', ${id})`
}
