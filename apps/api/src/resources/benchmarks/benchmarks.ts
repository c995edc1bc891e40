// Benchmarks (contract 2.8, 4.2.1): what checkpoints are measured by, and on which files.
import { Problem } from '../../base/problem.ts'
import { resource } from '../../contract/resource.ts'
import { pageOf, pages } from '../../contract/shapes.ts'
import { assertConnectors } from '../connectors/connectors-store.ts'
import { deleteBenchmark, getBenchmark, insertBenchmark, listBenchmarks, updateBenchmark } from './benchmarks-store.ts'
import { Benchmark, BenchmarkChanges, NewBenchmark } from './shapes.ts'

const benchmarks = resource('benchmarks', 'space')

export default [
  benchmarks.list({
    summary: 'List benchmarks',
    query: pages(10),
    result: pageOf(Benchmark),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listBenchmarks(sql, grant, query)),
  }),

  benchmarks.create({
    summary: 'Create a benchmark',
    body: NewBenchmark,
    result: Benchmark,
    run: ({ db, grant }, { body: { connectors, ...values } }) =>
      db.begin(grant, async (sql) => {
        const ids = connectors.map(({ connector_id }) => connector_id)
        const twice = ids.find((id, at) => ids.indexOf(id) < at)
        if (twice !== undefined) {
          throw new Problem('invalid_request', `The connector ${twice} is listed twice`, { param: 'connectors' })
        }
        await assertConnectors(sql, grant, ids, 'connectors')
        return insertBenchmark(sql, grant, { ...values, metrics: [...new Set(values.metrics)] }, connectors)
      }),
  }),

  benchmarks.get({
    summary: 'Get a benchmark',
    result: Benchmark,
    run: ({ db, grant }, { id }) => db.as(grant, (sql) => getBenchmark(sql, grant, id)),
  }),

  benchmarks.update({
    summary: 'Update a benchmark: only what is given changes, and a connector joins the others',
    body: BenchmarkChanges,
    result: Benchmark,
    run: ({ db, grant }, { id, body: { connector, metrics, ...texts } }) =>
      db.begin(grant, async (sql) => {
        const values = { ...texts, ...(metrics && { metrics: [...new Set(metrics)] }) }
        await getBenchmark(sql, grant, id)
        if (connector === undefined) return updateBenchmark(sql, grant, id, values, undefined)
        await assertConnectors(sql, grant, [connector], 'connector')
        return updateBenchmark(sql, grant, id, values, { connector_id: connector, keys: [] })
      }),
  }),

  benchmarks.remove({
    summary: 'Delete a benchmark',
    run: ({ db, grant }, { id }) => db.begin(grant, (sql) => deleteBenchmark(sql, grant, id)),
  }),
]
