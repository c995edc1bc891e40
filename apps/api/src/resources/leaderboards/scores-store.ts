// The scores that leaderboards are ordered by: kept as evaluations end, so that no page has to compute any.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Client, Sql } from '../../storage/sql.ts'

/** Stands for all benchmarks: its scores are the averages. */
export const ALL_BENCHMARKS = '00000000-0000-0000-0000-000000000000'

/** The newest result of a checkpoint by a benchmark replaces the one before, and the averages follow. The checkpoint is locked. */
export async function setScores(
  sql: Sql,
  grant: SpaceGrant,
  checkpointId: string,
  benchmarkId: string,
  result: Readonly<Record<string, number>>,
): Promise<void> {
  const of = sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and checkpoint_id = ${checkpointId}`
  await sql`delete from checkpoint_scores where ${of} and benchmark_id = any(${[benchmarkId, ALL_BENCHMARKS]}::uuid[])`
  await sql`
    insert into checkpoint_scores (tenant_id, space_id, checkpoint_id, benchmark_id, metric, value)
    select ${grant.tenantId}, ${grant.spaceId}, ${checkpointId}, ${benchmarkId}, key, value::float8
    from jsonb_each_text(${sql.json(result)})`
  await sql`
    insert into checkpoint_scores (tenant_id, space_id, checkpoint_id, benchmark_id, metric, value)
    select tenant_id, space_id, checkpoint_id, ${ALL_BENCHMARKS}, metric, avg(value) from checkpoint_scores where ${of}
    group by tenant_id, space_id, checkpoint_id, metric`
}

/** Scores of checkpoints that have been gone for a day: nobody turns a page at them any more. */
export async function sweepScores(system: Client): Promise<void> {
  await system`delete from checkpoint_scores where retired_at < now() - interval '1 day'`
}
