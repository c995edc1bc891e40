// Finds which checkpoints a leaderboard page shows, in their order: one statement that walks an index and stops.

import type { PendingQuery, Row } from 'postgres'
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { olderThan } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import { ALL_BENCHMARKS } from './scores-store.ts'
import type { LeaderboardQuery } from './shapes.ts'

export interface Ranked {
  readonly id: string
  readonly value?: number
}

export type Fragment = PendingQuery<Row[]>

export async function rank(
  sql: Sql,
  grant: SpaceGrant,
  query: LeaderboardQuery,
  matching: Fragment,
  limit: number,
): Promise<Ranked[]> {
  const metric = query['order_by_metric.metric_name']
  const olderUnscored = olderThan(sql, 'c.id', query.after)
  if (metric === undefined) {
    return sql<Ranked[]>`
      select c.id from checkpoints c where ${matching} and ${olderUnscored} order by c.id desc limit ${limit}`
  }
  const benchmark = query['order_by_metric.benchmark_id'] ?? ALL_BENCHMARKS
  const score = sql`s.tenant_id = ${grant.tenantId} and s.space_id = ${grant.spaceId} and s.metric = ${metric}
    and s.benchmark_id = ${isId(benchmark) ? benchmark : null}::uuid`
  const [cursor] =
    query.after === ''
      ? []
      : await sql<{ value: number }[]>`
          select s.value from checkpoint_scores s where ${score} and s.checkpoint_id = ${query.after}`
  const isDescending = query['order_by_metric.direction'] === 'desc'
  const order = isDescending ? sql`s.value desc, s.checkpoint_id desc` : sql`s.value, s.checkpoint_id`
  const beyond = afterCursor(sql, query.after, cursor?.value, isDescending)
  return sql<Ranked[]>`
    with scored as materialized (
      select s.checkpoint_id as id, s.value from checkpoint_scores s
        join checkpoints c on c.tenant_id = s.tenant_id and c.space_id = s.space_id and c.id = s.checkpoint_id
      where ${score} and s.retired_at is null and ${matching} and ${beyond}
      order by ${order} limit ${limit}
    ), unscored as materialized (
      select c.id from checkpoints c
      where ${matching} and ${cursor ? sql`true` : olderUnscored}
        and not exists (select from checkpoint_scores s where ${score} and s.checkpoint_id = c.id)
      order by c.id desc limit ${limit} - (select count(*) from scored)
    ), both_kinds as (select id, value from scored union all select id, null from unscored)
    select id, value from both_kinds
    order by value is null, ${isDescending ? sql`value desc, id desc` : sql`value, case when value is null then null else id end, id desc`}`
}

/** Past a cursor that has no score there are no scores any more. */
function afterCursor(sql: Sql, after: string, value: number | undefined, isDescending: boolean) {
  if (after === '') return sql`true`
  if (value === undefined) return sql`false`
  return isDescending
    ? sql`(s.value, s.checkpoint_id) < (${value}::float8, ${after}::uuid)`
    : sql`(s.value, s.checkpoint_id) > (${value}::float8, ${after}::uuid)`
}
