// Writes the logs of many calls in one statement, and their sums with them, so that both always agree.
import { recordFormat } from '../../storage/record-text.ts'
import type { Sql } from '../../storage/sql.ts'
import type { RecordKind } from '../../storage/write-buffer.ts'

const format = recordFormat({
  tenant_id: 'text',
  space_id: 'uuid',
  id: 'uuid',
  created_at: 'timestamptz',
  finished_at: 'timestamptz',
  api: 'text',
  correlation_id: 'text',
  status: 'text',
  error_message: 'text',
  model: 'text',
  type: 'text',
  user_id: 'text',
  input_tokens: 'int',
  total_tokens: 'int',
  latency_ms: 'int',
  position: 'int',
  stream: 'boolean',
  tags: 'text[]',
  metadata: 'json',
  messages: 'json',
  response_log: 'json',
})

export const logRecords: RecordKind = { textOf: format.textOf, insert: insertLogs }

/**
 * Logs of a deleted space are dropped. In a repeat, what is there already is neither stored nor summed again; to look for it
 * costs as much as to store it, so that is done for a repeat only.
 */
async function insertLogs(sql: Sql, logs: readonly string[], isRepeat: boolean): Promise<void> {
  await sql`
    with logged as (
      insert into logs (tenant_id, space_id, id, created_at, finished_at, api, correlation_id, status, error_message, model,
        type, user_id, input_tokens, total_tokens, latency_ms, position, stream, tags, metadata, messages, response_log)
      select g.* from ${format.rows(sql, logs)} as g
      where exists (select from spaces s where s.tenant_id = g.tenant_id and s.id = g.space_id)
      ${isRepeat ? sql`on conflict do nothing` : sql``}
      returning tenant_id, space_id, created_at, id, tags, correlation_id, user_id, model, type, status, input_tokens,
        total_tokens, latency_ms
    ), tagged as (
      insert into log_tags (tenant_id, space_id, tag, created_at, id, user_id, model, type, status, correlation_id)
      select distinct tenant_id, space_id, unnest(tags), created_at, id, user_id, model, type, status, correlation_id
      from logged where tags <> '{}'
    ), hours as (
      select tenant_id, space_id, date_trunc('hour', created_at, 'UTC') as bucket, user_id, model, coalesce(type, '') as type,
        count(*) as calls, count(*) filter (where status = 'success') as successes, sum(input_tokens) as input_tokens,
        sum(total_tokens) as total_tokens, sum(latency_ms) as latency_ms, min(created_at) as first_at, max(created_at) as last_at
      from logged group by 1, 2, 3, 4, 5, 6
    )
    insert into log_sums as s (tenant_id, space_id, grain, bucket, user_id, model, type, calls, successes, input_tokens,
      total_tokens, latency_ms, first_at, last_at)
    select tenant_id, space_id, 'hour', bucket, user_id, model, type, calls, successes, input_tokens, total_tokens, latency_ms,
      first_at, last_at
    from hours
    union all
    select tenant_id, space_id, 'day', date_trunc('day', bucket, 'UTC'), user_id, model, type, sum(calls), sum(successes),
      sum(input_tokens), sum(total_tokens), sum(latency_ms), min(first_at), max(last_at)
    from hours group by 1, 2, 4, 5, 6, 7
    order by 1, 2, 3, 4, 5, 6, 7
    on conflict on constraint log_sums_pk do update set calls = s.calls + excluded.calls,
      successes = s.successes + excluded.successes, input_tokens = s.input_tokens + excluded.input_tokens,
      total_tokens = s.total_tokens + excluded.total_tokens, latency_ms = s.latency_ms + excluded.latency_ms,
      first_at = least(s.first_at, excluded.first_at), last_at = greatest(s.last_at, excluded.last_at)`
}
