// How long statistics take over a million and ten million logs: whole, by filter, and with ragged ends.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../src/storage/embedded-postgres.ts'
import { connect } from '../src/storage/sql.ts'
import { call, spawnService } from '../test/support/processes.ts'
import { median, report } from './support/measure.ts'

const SIZES = (process.env['BENCH_LOGS'] ?? '1000000,10000000').split(',').map(Number)
const DAYS = 90
const PORTION = 500_000

const dataDir = await mkdtemp(join(tmpdir(), 'amphi-bench-'))
const postgres = await startPostgres({ dataDir, settings: { max_wal_size: '4GB' } })
const service = await spawnService({ DATABASE_URL: postgres.url, SECRETS_KEY: 'a key for the length of a benchmark' })
const sql = connect(postgres.url, { max: 1, statementTimeoutMs: 0 })
const last = Math.floor(Date.now() / 86_400_000) * 86_400_000
const first = last - DAYS * 86_400_000
await sql`select ensure_log_months(${new Date(first).toISOString()}::date, now()::date)`

let made = 0
for (const size of SIZES) {
  for (; made < size; made += PORTION) await fill(Math.min(PORTION, size - made))
  await sum()
  await sql`vacuum analyze logs, log_sums`
  await measure(size)
}
await sql.end()
await service.kill('SIGTERM')
await postgres.stop()
await rm(dataDir, { recursive: true, force: true })

/** Spread over the days, by 50 users on 4 models in 3 types. */
async function fill(count: number): Promise<void> {
  await sql`
    insert into logs (tenant_id, space_id, id, created_at, finished_at, api, correlation_id, status, model, type, user_id,
      input_tokens, total_tokens, latency_ms, stream, tags, messages, response_log)
    select 'acme', ${service.space}, gen_random_uuid(), at, at, 'chats.complete', n::text,
      case when n % 20 = 0 then 'error' else 'success' end, 'model-' || n % 4, (array['chat', 'insight', null])[1 + n % 3],
      'user-' || n % 50, 10, 30, n % 1000, false, '{}', '[]', '{}'
    from (
      select n, date_trunc('milliseconds', to_timestamp(${first / 1000} + random() * ${DAYS * 86_400})) as at
      from generate_series(1, ${count}::int) as n
    ) as made`
}

/** What the service does as it writes; here for all logs at once, because they were made at once. */
async function sum(): Promise<void> {
  await sql`truncate log_sums`
  await sql`
    insert into log_sums
    select tenant_id, space_id, grain, date_trunc(grain, created_at, 'UTC'), user_id, model, coalesce(type, ''), count(*),
      count(*) filter (where status = 'success'), sum(input_tokens), sum(total_tokens), sum(latency_ms), min(created_at), max(created_at)
    from logs, (values ('day'), ('hour')) as grains (grain) group by 1, 2, 3, 4, 5, 6, 7`
}

async function measure(size: number): Promise<void> {
  const at = (ms: number) => new Date(ms).toISOString()
  const ragged = `start_date=${at(first + 12_345_678)}&end_date=${at(last - 23_456_789)}`
  const queries: Record<string, string> = {
    'the whole': '',
    'one user, one model': '?user=user-7&model=model-3',
    'ragged ends': `?${ragged}`,
    'ragged ends, one type': `?${ragged}&type=chat`,
  }
  for (const [what, query] of Object.entries(queries)) {
    const times: number[] = []
    let calls = 0
    for (let i = 0; i < 15; i++) {
      const began = performance.now()
      const { status, body } = await call(service, 'GET', `/v1/spaces/${service.space}/logs/statistics${query}`)
      if (status !== 200) throw new Error(`Statistics answered ${status}`)
      times.push(performance.now() - began)
      calls = body.total_calls
    }
    if (query === '' && calls !== size) throw new Error(`The statistics count ${calls} of ${size} logs`)
    report(`statistics over ${size} logs, ${what}, ms (under 100)`, median(times))
  }
}
