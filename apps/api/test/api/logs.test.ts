// Logs: found by every filter, summed up exactly, kept by month.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { newId } from '../../src/base/ids.ts'
import { logRecords } from '../../src/resources/logs/log-writes-store.ts'
import { sweepLogs } from '../../src/resources/logs/logs-store.ts'
import { type Person, type Service, startService } from '../support/service.ts'

interface Row {
  readonly id: string
  readonly created_at: string
  readonly user_id: string
  readonly model: string
  readonly type: string | undefined
  readonly status: string
  readonly tags: string[]
  readonly correlation_id: string
  readonly input_tokens: number
  readonly total_tokens: number
  readonly latency_ms: number
}

const FIRST = Date.parse('2026-01-30T22:00:00Z')
const DAYS = 4
const rows: Row[] = []
let service: Service
let space: string
let ana: Person

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!
const textOf = (row: Row, space_id = space) =>
  logRecords.textOf({
    ...row,
    tenant_id: 'acme',
    space_id,
    finished_at: row.created_at,
    api: 'chats.complete',
    stream: false,
    messages: [],
    response_log: {},
  })

before(async () => {
  service = await startService()
  space = await service.firstSpace()
  ana = await service.signIn('ana', ['admins'])
  await service.process.system`select ensure_log_months('2026-01-01', '2026-01-31')`
  for (let i = 0; i < 3_000; i++) {
    // Some fall on the very borders of hours, which is where sums go wrong.
    const ms =
      FIRST +
      Math.floor(Math.random() * DAYS * 24) * 3_600_000 +
      pick([0, 1, 3_599_999, Math.floor(Math.random() * 3_600_000)])
    const input_tokens = Math.floor(Math.random() * 100)
    rows.push({
      id: newId().replace(/^.{13}/, toPrefix(ms)),
      created_at: new Date(ms).toISOString(),
      user_id: pick(['ana', 'bob', 'carol']),
      model: pick(['m1', 'm2']),
      type: pick([undefined, 'chat', 'insight']),
      status: pick(['success', 'success', 'error']),
      tags: pick([[], ['a'], ['a', 'b']]),
      correlation_id: `request-${i % 1_000}`,
      input_tokens,
      total_tokens: input_tokens + Math.floor(Math.random() * 50),
      latency_ms: Math.floor(Math.random() * 1000),
    })
  }
  for (let at = 0; at < rows.length; at += 250)
    await logRecords.insert(
      service.process.system,
      rows.slice(at, at + 250).map((row) => textOf(row)),
      false,
    )
})
after(() => service.close())

function toPrefix(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}

interface Filter {
  readonly start_date?: string
  readonly end_date?: string
  readonly user?: string
  readonly model?: string
  readonly type?: string
  readonly correlation_id?: string
  readonly status?: string
  readonly tag?: string
}

const matching = (filter: Filter) =>
  rows.filter(
    (row) =>
      (filter.start_date === undefined || row.created_at >= filter.start_date) &&
      (filter.end_date === undefined || row.created_at <= filter.end_date) &&
      (filter.user === undefined || row.user_id === filter.user) &&
      (filter.model === undefined || row.model === filter.model) &&
      (filter.type === undefined || row.type === filter.type) &&
      (filter.correlation_id === undefined || row.correlation_id === filter.correlation_id) &&
      (filter.status === undefined || row.status === filter.status) &&
      (filter.tag === undefined || row.tags.includes(filter.tag)),
  )

const moment = fc
  .record({
    hour: fc.integer({ min: -2, max: DAYS * 24 + 2 }),
    ms: fc.constantFrom(0, 1, 1_800_000, 3_599_999),
  })
  .map(({ hour, ms }) => new Date(FIRST + hour * 3_600_000 + ms).toISOString())
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })
const common = {
  start_date: maybe(moment),
  end_date: maybe(moment),
  user: maybe(fc.constantFrom('ana', 'nobody')),
  model: maybe(fc.constantFrom('m1')),
  type: maybe(fc.constantFrom('chat')),
}
const queryOf = (filter: Filter) =>
  new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== undefined) as [string, string][])

test('statistics agree with plain counting for any period and filter', async () => {
  const filters = fc.record({ ...common, correlation_id: maybe(fc.constantFrom('request-7')) })
  await fc.assert(
    fc.asyncProperty(filters, async (given) => {
      const filter = given as Filter
      const { status, body } = await ana.call('GET', `/v1/spaces/${space}/logs/statistics?${queryOf(filter)}`)
      assert.equal(status, 200)
      const found = matching(filter)
      const sum = (of: (row: Row) => number) => found.reduce((total, row) => total + of(row), 0)
      const dates = found.map(({ created_at }) => created_at).sort()
      const start = filter.start_date ?? dates[0]
      const end = filter.end_date ?? dates.at(-1)
      assert.deepEqual(body, {
        total_calls: found.length,
        success_rate: found.length === 0 ? 0 : sum(({ status }) => Number(status === 'success')) / found.length,
        avg_latency_ms: found.length === 0 ? 0 : sum(({ latency_ms }) => latency_ms) / found.length,
        input_tokens: sum(({ input_tokens }) => input_tokens),
        total_tokens: sum(({ total_tokens }) => total_tokens),
        output_tokens: sum((row) => row.total_tokens - row.input_tokens),
        model_usage: Object.fromEntries(
          ['m1', 'm2'].map((model) => [model, found.filter((row) => row.model === model).length]).filter(([, n]) => n),
        ),
        ...(start && { period_start_date: start }),
        ...(end && { period_end_date: end }),
      })
    }),
    { numRuns: 60 },
  )
})

test('the list finds by every filter, newest first, and counts exactly', async () => {
  const filters = fc.record({
    ...common,
    correlation_id: maybe(fc.constantFrom('request-7')),
    status: maybe(fc.constantFrom('success', 'error')),
    tag: maybe(fc.constantFrom('a', 'b', 'none')),
  })
  await fc.assert(
    fc.asyncProperty(filters, async (given) => {
      const filter = given as Filter
      const { status, body, text } = await ana.call(
        'GET',
        `/v1/spaces/${space}/logs?page=2&page_size=5&${queryOf(filter)}`,
      )
      assert.equal(status, 200, text)
      const found = matching(filter).sort((a, b) => (a.id < b.id ? 1 : -1))
      assert.equal(body.count, found.length)
      assert.equal(body.has_more, found.length > 10)
      assert.deepEqual(
        body.data.map(({ id }: Row) => id),
        found.slice(5, 10).map(({ id }) => id),
      )
    }),
    { numRuns: 60 },
  )
})

test('logs that are stored a second time are neither kept nor summed twice', async () => {
  await logRecords.insert(
    service.process.system,
    rows.slice(0, 100).map((row) => textOf(row)),
    true,
  )
  const { body } = await ana.call('GET', `/v1/spaces/${space}/logs/statistics`)
  assert.equal(body.total_calls, rows.length)
})

test('a log is found by its id in whichever month it lies; a foreign or unknown one is 404', async () => {
  for (const { id } of [rows[0]!, rows[1]!, rows[2]!]) {
    assert.equal((await ana.call('GET', `/v1/spaces/${space}/logs/${id}`)).body.id, id)
  }
  assert.equal((await ana.call('GET', `/v1/spaces/${space}/logs/${newId()}`)).status, 404)
  assert.equal((await ana.call('GET', `/v1/spaces/${space}/logs/statistics?start_date=yesterday`)).status, 400)
  const partitions = await service.process.system<{ n: number }[]>`
    select count(distinct tableoid)::int as n from logs`
  assert.equal(partitions[0]!.n, 2)
})

test('another space sees none of them', async () => {
  const { body: other } = await ana.call('POST', '/v1/spaces', { name: 'Other', description: '' })
  const there = await service.signIn('ana', ['admins'])
  assert.equal((await there.call('GET', `/v1/spaces/${other.id}/logs`)).body.count, 0)
  assert.equal((await there.call('GET', `/v1/spaces/${other.id}/logs/statistics`)).body.total_calls, 0)
  assert.equal((await there.call('GET', `/v1/spaces/${other.id}/logs/${rows[0]!.id}`)).status, 404)
})

test('the logs of a deleted space and their sums are swept, also those that come late, and no others', async () => {
  const { system } = service.process
  const { body: gone } = await ana.call('POST', '/v1/spaces', { name: 'short-lived', description: '' })
  const write = (some: Row[]) =>
    logRecords.insert(
      system,
      some.map((row) => textOf({ ...row, id: newId() }, gone.id)),
      false,
    )
  const left = () =>
    system`select 1 from logs where space_id = ${gone.id} union all select 1 from log_sums where space_id = ${gone.id}
      union all select 1 from log_tags where space_id = ${gone.id}`
  await write(rows)
  assert.equal((await ana.call('DELETE', `/v1/spaces/${gone.id}`)).status, 204)
  await sweepLogs(system, AbortSignal.abort())
  assert.notEqual((await left()).length, 0)
  for (const late of [[], rows.slice(0, 5)]) {
    await write(late)
    await sweepLogs(system, AbortSignal.timeout(10_000))
    assert.equal((await left()).length, 0)
  }
  assert.equal((await ana.call('GET', `/v1/spaces/${space}/logs`)).body.count, rows.length)
})

test('times beyond the years of a calendar, and filters that say nothing, are answered', async () => {
  const at = `/v1/spaces/${space}/logs`
  assert.equal((await ana.call('GET', `${at}/ffffffff-ffff-7fff-bfff-ffffffffffff`)).status, 404)
  const end = '9999-12-31T23:59:59.999Z'
  assert.equal((await ana.call('GET', `${at}?end_date=${end}`)).body.count, rows.length)
  assert.equal((await ana.call('GET', `${at}/statistics?end_date=${end}`)).body.total_calls, rows.length)
  assert.equal((await ana.call('GET', `${at}?type=`)).body.error.param, 'type')
})
