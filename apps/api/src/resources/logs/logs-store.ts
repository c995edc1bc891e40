// The rows of logs: read by page and by id.
import type { SpaceGrant } from '../../base/grant.ts'
import { timeOf } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { NumberedPage, Page } from '../../contract/shapes.ts'
import { inPieces } from '../../storage/in-pieces.ts'
import { cut } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import { type LogFilter, periodOf } from './log-filter.ts'
import type { Log } from './shapes.ts'
import { at, sumLogs } from './statistics-store.ts'

export interface LogQuery extends LogFilter, NumberedPage {
  readonly status?: 'success' | 'error' | undefined
  readonly tag?: string | undefined
}

const columns = (sql: Sql) => sql`
  id as "_id", id, api, correlation_id, created_at, finished_at, error_message, model, space_id as space, status, type, user_id as "user",
  input_tokens, total_tokens, latency_ms, position, stream, tags, metadata, messages, response_log`

export async function listLogs(sql: Sql, grant: SpaceGrant, query: LogQuery): Promise<Page<Log>> {
  const { page, page_size } = query
  const { count, ...period } = await countLogs(sql, grant, query)
  const before = (page - 1) * page_size
  // To find that nothing is there takes a look at everything.
  if (count <= before) return cut([], page_size, count)
  const span = sql`order by created_at desc, id desc limit ${page_size + 1} offset ${before}`
  const found = matching(sql, grant, query, period)
  const rows =
    query.tag === undefined
      ? await sql<Log[]>`select ${columns(sql)} from logs where ${found} ${span}`
      : await sql<Log[]>`
          select ${columns(sql)} from (select created_at as tagged_at, id as tagged_id from log_tags where ${found} ${span}) t
          cross join lateral (
            select * from logs
            where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and created_at = tagged_at and id = tagged_id
          ) l order by tagged_at desc, tagged_id desc`
  return cut(rows as Log[], page_size, count)
}

interface Period {
  readonly from: number
  /** Just after its end. */
  readonly to: number
}

/** All of them lie in the period. */
interface Counted extends Period {
  readonly count: number
}

/** Counting log by log is for the few that one tag or one request left; everything else is known from the sums. */
async function countLogs(sql: Sql, grant: SpaceGrant, query: LogQuery): Promise<Counted> {
  const period = periodOf(query)
  const { tag, correlation_id, status } = query
  if (tag !== undefined || correlation_id !== undefined) {
    const [total] = await sql<{ count: number }[]>`
      select count(*)::int as count from ${tag === undefined ? sql`logs` : sql`log_tags`}
      where ${matching(sql, grant, query, period)}`
    return { count: total!.count, ...period }
  }
  const { calls, successes, first_at, last_at } = await sumLogs(sql, grant, query)
  const count = status === undefined ? calls : status === 'success' ? successes : calls - successes
  if (first_at === undefined || last_at === undefined) return { count, ...period }
  return { count, from: Date.parse(first_at), to: Date.parse(last_at) + 1 }
}

/** For logs, and for their tags, which have the same columns. */
function matching(sql: Sql, grant: SpaceGrant, query: LogQuery, { from, to }: Period) {
  const { user, model, type, correlation_id, status, tag } = query
  return sql`
    tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and created_at >= ${at(from)} and created_at < ${at(to)}
    ${user === undefined ? sql`` : sql`and user_id = ${user}`}
    ${model === undefined ? sql`` : sql`and model = ${model}`}
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${correlation_id === undefined ? sql`` : sql`and correlation_id = ${correlation_id}`}
    ${tag === undefined ? sql`` : sql`and tag = ${tag}`}`
}

export async function getLog(sql: Sql, grant: SpaceGrant, id: string): Promise<Log> {
  const [log] = await sql<Log[]>`
    select ${columns(sql)} from logs
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and created_at = ${at(timeOf(id))} and id = ${id}`
  if (!log) throw new Problem('not_found', 'No such log')
  return log
}

/** Makes room for the months to come. */
export async function prepareLogMonths(system: Sql): Promise<void> {
  await system`
    select ensure_log_months((now() at time zone 'UTC')::date, (now() at time zone 'UTC' + interval '2 months')::date)`
}

/** The logs of a deleted space go after it, and the sums that tell of them go last. */
export async function sweepLogs(system: Sql, signal: AbortSignal): Promise<void> {
  const gone = await system<{ tenant_id: string; space_id: string }[]>`
    select distinct l.tenant_id, l.space_id from log_sums l
    where l.grain = 'day' and not exists (select from spaces s where s.tenant_id = l.tenant_id and s.id = l.space_id)`
  for (const { tenant_id, space_id } of gone) {
    await inPieces(
      () => system`
        delete from log_tags where (tenant_id, space_id, tag, created_at, id) in (
          select tenant_id, space_id, tag, created_at, id from log_tags
          where tenant_id = ${tenant_id} and space_id = ${space_id} limit 5000 for update skip locked)`,
      signal,
    )
    await inPieces(
      () => system`
        delete from logs where (tenant_id, space_id, created_at, id) in (
          select tenant_id, space_id, created_at, id from logs
          where tenant_id = ${tenant_id} and space_id = ${space_id} limit 5000 for update skip locked)`,
      signal,
    )
    await system`
      delete from log_sums where tenant_id = ${tenant_id} and space_id = ${space_id}
        and not exists (select from logs where tenant_id = ${tenant_id} and space_id = ${space_id})`
  }
}
