// Sums over logs, exact to the millisecond: whole days and hours from kept sums, the rest log by log.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Sql } from '../../storage/sql.ts'
import { type LogFilter, periodOf } from './log-filter.ts'
import { type Piece, piecesOf } from './periods.ts'

export interface Sums {
  calls: number
  successes: number
  input_tokens: number
  total_tokens: number
  latency_ms: number
  first_at: string | undefined
  last_at: string | undefined
  calls_by_model: Record<string, number>
}

interface ModelSums extends Omit<Sums, 'calls_by_model'> {
  model: string
}

export async function sumLogs(sql: Sql, grant: SpaceGrant, filter: LogFilter): Promise<Sums> {
  const { from, to } = periodOf(filter)
  // The kept sums know nothing of single requests.
  const pieces = filter.correlation_id === undefined ? piecesOf(from, to) : [{ grain: 'log' as const, from, to }]
  const total: Sums = {
    calls: 0,
    successes: 0,
    input_tokens: 0,
    total_tokens: 0,
    latency_ms: 0,
    first_at: undefined,
    last_at: undefined,
    // Models have names of anybody's choosing.
    calls_by_model: Object.create(null),
  }
  if (!(from < to)) return total
  const counted = pieces
    .map((piece) => countPiece(sql, grant, filter, piece))
    .reduce((all, one) => sql`${all} union all ${one}`)
  const rows = await sql<ModelSums[]>`
    select model, sum(calls)::bigint as calls, sum(successes)::bigint as successes, sum(input_tokens)::bigint as input_tokens,
      sum(total_tokens)::bigint as total_tokens, sum(latency_ms)::bigint as latency_ms, min(first_at) as first_at, max(last_at) as last_at
    from (${counted}) as counted group by model order by model`
  for (const row of rows) add(total, row)
  return total
}

function countPiece(sql: Sql, grant: SpaceGrant, filter: LogFilter, { grain, from, to }: Piece) {
  const mine = sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}`
  const matching = sql`
    ${filter.user === undefined ? sql`` : sql`and user_id = ${filter.user}`}
    ${filter.model === undefined ? sql`` : sql`and model = ${filter.model}`}
    ${filter.type === undefined ? sql`` : sql`and type = ${filter.type}`}`
  if (grain === 'log') {
    return sql`
      select model, 1::bigint as calls, (status = 'success')::int::bigint as successes, input_tokens::bigint, total_tokens::bigint,
        latency_ms::bigint, created_at as first_at, created_at as last_at
      from logs where ${mine} and created_at >= ${at(from)} and created_at < ${at(to)} ${matching}
        ${filter.correlation_id === undefined ? sql`` : sql`and correlation_id = ${filter.correlation_id}`}`
  }
  return sql`
    select model, calls, successes, input_tokens, total_tokens, latency_ms, first_at, last_at
    from log_sums where ${mine} and grain = ${grain} and bucket >= ${at(from)} and bucket < ${at(to)} ${matching}`
}

/** A point in time for the database, which knows the two infinities by name. */
export function at(ms: number): string {
  if (ms < FIRST_MS) return '-infinity'
  return ms > LAST_MS ? 'infinity' : new Date(ms).toISOString()
}

/** Years of four digits; what lies beyond is as good as infinite. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

function add(total: Sums, row: ModelSums): void {
  total.calls += row.calls
  total.successes += row.successes
  total.input_tokens += row.input_tokens
  total.total_tokens += row.total_tokens
  total.latency_ms += row.latency_ms
  if (total.first_at === undefined || row.first_at! < total.first_at) total.first_at = row.first_at
  if (total.last_at === undefined || row.last_at! > total.last_at) total.last_at = row.last_at
  total.calls_by_model[row.model] = row.calls
}
