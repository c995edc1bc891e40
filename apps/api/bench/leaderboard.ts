// A leaderboard page at ten thousand evaluations and at a million.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALL_BENCHMARKS } from '../src/resources/leaderboards/scores-store.ts'
import { startPostgres } from '../src/storage/embedded-postgres.ts'
import { type Client, connect } from '../src/storage/sql.ts'
import { call, type ServiceProcess, spawnService } from '../test/support/processes.ts'
import { trainingSteps } from '../test/support/trainings.ts'
import { median, report } from './support/measure.ts'

const BENCHMARKS = 10
const SIZES = [10_000, 1_000_000]
const WARM_UP = 20
const ROUNDS = 40

const dataDir = await mkdtemp(join(tmpdir(), 'amphi-bench-'))
const postgres = await startPostgres({ dataDir })
const env = {
  DATABASE_URL: postgres.url,
  SECRETS_KEY: 'a key for the length of a benchmark',
  DATA_DIR: dataDir,
  ROLE: 'api',
}
const service = await spawnService(env)
const sql = connect(postgres.url, { max: 1, role: 'amphi_system', statementTimeoutMs: 0 })
const steps = trainingSteps((method, path, body) => call(service, method, path, body), service.space)

const training = await steps.training({ name: 'bench' })
const benchmarks: string[] = []
for (let at = 0; at < BENCHMARKS; at++) {
  const body = { name: `b${at}`, description: '', task: 't', metrics: ['roc_auc'], connectors: [] }
  benchmarks.push((await steps.ask('POST', 'benchmarks', body)).id)
}

const medians = new Map<string, number[]>()
let evaluations = 0
for (const size of SIZES) {
  await grow(sql, service, (size - evaluations) / BENCHMARKS)
  evaluations = size
  for (const [what, query] of Object.entries(await queries())) {
    const ms = await timeOf(query)
    medians.set(what, [...(medians.get(what) ?? []), ms])
    report(`${what}, ${size.toLocaleString('en')} evaluations, ms`, ms)
  }
}
for (const [what, [few, many]] of medians) report(`${what}: ratio (within 3)`, many! / few!)

await sql.end()
await service.kill('SIGTERM')
await postgres.stop()
await rm(dataDir, { recursive: true, force: true })

async function queries(): Promise<Record<string, string>> {
  const auc = 'order_by_metric.metric_name=roc_auc'
  const one = `${auc}&order_by_metric.benchmark_id=${benchmarks[3]}`
  const [middle] = await sql<{ checkpoint_id: string }[]>`
    select checkpoint_id from checkpoint_scores where benchmark_id = ${ALL_BENCHMARKS} and metric = 'roc_auc'
    order by value desc offset ${evaluations / BENCHMARKS / 2} limit 1`
  return {
    'best by the average': auc,
    'best by one benchmark': one,
    'worst by one benchmark': `${one}&order_by_metric.direction=asc`,
    'a page in the middle': `${auc}&after=${middle!.checkpoint_id}`,
    'the newest': '',
  }
}

async function timeOf(query: string): Promise<number> {
  const times: number[] = []
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    const began = performance.now()
    const { data, count } = await steps.ask('GET', `leaderboards?${query}`)
    if (round >= 0) times.push(performance.now() - began)
    if (data.length !== 10 || data[0].evaluations.length !== BENCHMARKS || count !== evaluations / BENCHMARKS) {
      throw new Error('The benchmark reads a wrong page')
    }
  }
  return median(times)
}

/** As the service would have written them, without the hours that a million evaluations take. */
async function grow(sql: Client, { space }: ServiceProcess, checkpoints: number): Promise<void> {
  const [{ from }] = await sql<[{ from: number }]>`select coalesce(max(step), 0)::int as from from checkpoints`
  await sql`
    insert into checkpoints (tenant_id, space_id, id, training_id, data_model_id, step, name, model_key, sha256,
      encoding_key, encoding_sha256, created_by)
    select t.tenant_id, t.space_id, uuidv7(), t.id, t.data_model_id, ${from} + n, 'bench step ' || n, '', '', '', '', 'bench'
    from trainings t, generate_series(1, ${checkpoints}::int) as n where t.id = ${training}`
  await sql`
    insert into evaluations (tenant_id, space_id, id, benchmark_id, checkpoint_id, gpu_count, status, result, created_by)
    select c.tenant_id, c.space_id, uuidv7(), b, c.id, 0, 'succeeded',
      jsonb_build_object('roc_auc', random(), 'log_loss', random()), 'bench'
    from checkpoints c, unnest(${benchmarks}::uuid[]) as b where c.step > ${from}`
  await sql`
    insert into checkpoint_scores (tenant_id, space_id, checkpoint_id, benchmark_id, metric, value)
    select e.tenant_id, e.space_id, e.checkpoint_id, e.benchmark_id, key, value::float8
    from evaluations e join checkpoints c on c.id = e.checkpoint_id, jsonb_each_text(e.result) where c.step > ${from}`
  await sql`
    insert into checkpoint_scores (tenant_id, space_id, checkpoint_id, benchmark_id, metric, value)
    select s.tenant_id, s.space_id, s.checkpoint_id, ${ALL_BENCHMARKS}::uuid, s.metric, avg(s.value)
    from checkpoint_scores s join checkpoints c on c.id = s.checkpoint_id where c.step > ${from}
    group by 1, 2, 3, 4, 5`
  await sql`
    insert into checkpoint_counts (tenant_id, space_id, count) values ('acme', ${space}, ${checkpoints})
    on conflict (tenant_id, space_id) do update set count = checkpoint_counts.count + excluded.count`
  await sql`analyze`
}
