// The rows of evaluations and the states they go through (contract 3.4): every step is a compare-and-set.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Jobs } from '../../storage/jobs.ts'
import { spaceTable } from '../../storage/space-table.ts'
import type { Sql } from '../../storage/sql.ts'
import { setScores } from '../leaderboards/scores-store.ts'
import type { Evaluation } from './shapes.ts'

export const evaluationTable = spaceTable<Evaluation>('evaluations', 'evaluation')

const one = (sql: Sql, grant: SpaceGrant, id: string) =>
  sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${id}`

/** Its job is enqueued with it. Call it inside a transaction. */
export async function requestEvaluation(
  sql: Sql,
  grant: SpaceGrant,
  jobs: Jobs,
  values: Pick<Evaluation, 'benchmark_id' | 'checkpoint_id' | 'gpu_count'>,
): Promise<Evaluation> {
  const evaluation = await evaluationTable.insertIn(sql, grant, values)
  await jobs.enqueue(sql, grant, 'evaluations.run', { id: evaluation.id })
  return evaluation
}

export interface EvaluationAttempt extends Pick<Evaluation, 'benchmark_id' | 'checkpoint_id' | 'gpu_count'> {
  readonly attempt: number
}

/** Starts it, or takes it up from a process that died; nothing when it has ended or is gone. */
export async function beginEvaluation(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  token: { readonly hash: string; readonly lifeSeconds: number },
): Promise<EvaluationAttempt | undefined> {
  const [begun] = await sql<EvaluationAttempt[]>`
    update evaluations set status = 'running', attempt = attempt + 1, updated_at = now(), token_hash = ${token.hash},
      token_expires_at = now() + make_interval(secs => ${token.lifeSeconds})
    where ${one(sql, grant, id)} and status in ('queued', 'running')
    returning benchmark_id, checkpoint_id, gpu_count, attempt`
  return begun
}

export async function findEvaluationAttempt(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  attempt: number,
): Promise<EvaluationAttempt | undefined> {
  const [found] = await sql<EvaluationAttempt[]>`
    select benchmark_id, checkpoint_id, gpu_count, attempt from evaluations
    where ${one(sql, grant, id)} and status = 'running' and attempt = ${attempt}`
  return found
}

/** Another engine has begun it. */
export async function startReportedEvaluation(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  await sql`
    update evaluations set status = 'running', updated_at = now()
    where ${one(sql, grant, id)} and status = 'queued'`
}

/**
 * Comes before every change that may lead to a score. Two results of one checkpoint at the same time would each compute
 * the average without the other; and deleting a training takes the checkpoint first too, then its evaluations.
 */
export async function lockCheckpointOf(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  await sql`
    select from checkpoints
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}
      and id = (select checkpoint_id from evaluations where ${one(sql, grant, id)})
    for update`
}

/** The result of a running evaluation, with what it means for the leaderboard. Call it inside a transaction. */
export async function succeedEvaluation(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  result: Readonly<Record<string, number>>,
  omitted: string | undefined,
  attempt?: number,
): Promise<boolean> {
  await lockCheckpointOf(sql, grant, id)
  const [ended] = await sql<{ checkpoint_id: string; benchmark_id: string }[]>`
    update evaluations set status = 'succeeded', result = ${sql.json(result)}, error = ${omitted ?? null},
      updated_at = now(), token_hash = null
    where ${one(sql, grant, id)} and status = 'running'
      and ${attempt === undefined ? sql`true` : sql`attempt = ${attempt}`}
    returning checkpoint_id, benchmark_id`
  if (ended) await setScores(sql, grant, ended.checkpoint_id, ended.benchmark_id, result)
  return ended !== undefined
}

export async function failEvaluation(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  reason: string,
  attempt?: number,
): Promise<boolean> {
  const failed = await sql`
    update evaluations set status = 'failed', error = ${reason}, updated_at = now(), token_hash = null
    where ${one(sql, grant, id)} and status in ('queued', 'running')
      and ${attempt === undefined ? sql`true` : sql`attempt = ${attempt}`}`
  return failed.count > 0
}
