// A page of a leaderboard: the checkpoints in their order, each with its training and evaluations, and how many match.
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { cut } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { Evaluation } from '../evaluations/shapes.ts'
import { type Fragment, rank } from './ranking-store.ts'
import type { LeaderboardEntry, LeaderboardQuery } from './shapes.ts'

export async function listLeaderboard(sql: Sql, grant: SpaceGrant, query: LeaderboardQuery) {
  const { matching, isFiltered } = filters(sql, grant, query)
  const [ranked, count] = await Promise.all([
    rank(sql, grant, query, matching, query.limit + 1),
    countEntries(sql, grant, matching, isFiltered),
  ])
  const { data, ...rest } = cut([...ranked], query.limit, count)
  const ids = data.map(({ id }) => id)
  const [entries, evaluations] = await Promise.all([
    sql<LeaderboardEntry[]>`
      select c.id, c.name, c.created_at, c.created_by, c.updated_at, c.updated_by, c.webhook_event,
        jsonb_build_object('id', t.id, 'name', t.name) as training
      from checkpoints c
        join trainings t on t.tenant_id = c.tenant_id and t.space_id = c.space_id and t.id = c.training_id
      where ${mine(sql, grant)} and c.id = any(${ids}::uuid[])`,
    sql<Evaluation[]>`
      select * from evaluations c
      where ${mine(sql, grant)} and c.checkpoint_id = any(${ids}::uuid[]) and ${byBenchmark(sql, query)}
      order by c.id desc`,
  ])
  const entryById = new Map(entries.map((entry) => [entry.id, entry]))
  const byCheckpoint = Map.groupBy(evaluations, ({ checkpoint_id }) => checkpoint_id)
  return {
    ...rest,
    data: data.flatMap(({ id, value }): LeaderboardEntry[] => {
      const entry = entryById.get(id)
      if (!entry) return []
      const order = value === undefined ? {} : { order_metric_value: value }
      return [{ ...entry, ...order, evaluations: byCheckpoint.get(id) ?? [] }]
    }),
  }
}

const mine = (sql: Sql, grant: SpaceGrant) => sql`c.tenant_id = ${grant.tenantId} and c.space_id = ${grant.spaceId}`

const byBenchmark = (sql: Sql, { benchmarks }: LeaderboardQuery) =>
  benchmarks === undefined ? sql`true` : sql`c.benchmark_id = any(${benchmarks.filter(isId)}::uuid[])`

/** What the query asks of a checkpoint `c`. */
function filters(sql: Sql, grant: SpaceGrant, query: LeaderboardQuery) {
  const { model_id, name, benchmarks, trainings, start_date, end_date } = query
  const given = [
    model_id !== undefined && sql`c.data_model_id = ${isId(model_id) ? model_id : null}::uuid`,
    name !== undefined && sql`strpos(lower(c.name), lower(${name})) > 0`,
    trainings !== undefined && sql`c.training_id = any(${trainings.filter(isId)}::uuid[])`,
    start_date !== undefined && sql`c.created_at >= ${start_date}`,
    end_date !== undefined && sql`c.created_at <= ${end_date}`,
    benchmarks !== undefined &&
      sql`exists (
        select from evaluations e
        where e.tenant_id = c.tenant_id and e.space_id = c.space_id and e.checkpoint_id = c.id
          and e.status = 'succeeded' and e.benchmark_id = any(${benchmarks.filter(isId)}::uuid[]))`,
  ].filter((condition) => condition !== false)
  const matching = given.reduce((all, condition) => sql`${all} and ${condition}`, mine(sql, grant))
  return { matching, isFiltered: given.length > 0 }
}

/** Kept along with the checkpoints, and counted only where something narrows them down. */
async function countEntries(sql: Sql, grant: SpaceGrant, matching: Fragment, isFiltered: boolean) {
  const [row] = isFiltered
    ? await sql<{ count: number }[]>`select count(*)::int as count from checkpoints c where ${matching}`
    : await sql<{ count: number }[]>`select count from checkpoint_counts c where ${mine(sql, grant)}`
  return row?.count ?? 0
}
