// Logs (contract 4.2.8): what was asked of models, what came of it, and sums over that.
import { Type } from 'typebox'
import { resource } from '../../contract/resource.ts'
import { choice, pageOf, pages, text } from '../../contract/shapes.ts'
import { filterFields, type LogFilter } from './log-filter.ts'
import { getLog, listLogs } from './logs-store.ts'
import { Log, Statistics } from './shapes.ts'
import { type Sums, sumLogs } from './statistics-store.ts'

const logs = resource('logs', 'space')

export default [
  logs.list({
    summary: 'List logs of model-backed calls',
    query: Type.Object({
      ...filterFields,
      status: Type.Optional(choice('success', 'error')),
      tag: Type.Optional(text),
      ...pages(20).properties,
    }),
    result: pageOf(Log),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listLogs(sql, grant, query)),
  }),

  logs.action(
    'statistics',
    'GET',
    '/statistics',
  )({
    summary: 'Sum up the model-backed calls of a period',
    permission: 'logs:list',
    query: Type.Object(filterFields),
    result: Statistics,
    run: ({ db, grant }, { query }) =>
      db.as(grant, async (sql) => toStatistics(query, await sumLogs(sql, grant, query))),
  }),

  logs.get({
    summary: 'Get a log',
    result: Log,
    run: ({ db, grant }, { id }) => db.as(grant, (sql) => getLog(sql, grant, id)),
  }),
]

function toStatistics(asked: LogFilter, sums: Sums): Statistics {
  const { calls, successes, input_tokens, total_tokens, latency_ms } = sums
  const start = asked.start_date === undefined ? sums.first_at : new Date(asked.start_date).toISOString()
  const end = asked.end_date === undefined ? sums.last_at : new Date(asked.end_date).toISOString()
  return {
    avg_latency_ms: calls === 0 ? 0 : latency_ms / calls,
    success_rate: calls === 0 ? 0 : successes / calls,
    input_tokens,
    output_tokens: total_tokens - input_tokens,
    total_tokens,
    total_calls: calls,
    model_usage: sums.calls_by_model,
    ...(start !== undefined && { period_start_date: start }),
    ...(end !== undefined && { period_end_date: end }),
  }
}
