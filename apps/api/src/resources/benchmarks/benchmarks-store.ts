// The rows of benchmarks, each with its connectors in the order they were given.
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { NumberedPage } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { conflictIn } from '../../storage/conflicts.ts'
import { cut } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { ConnectorTraining } from '../connectors/shapes.ts'
import type { Benchmark } from './shapes.ts'

export type BenchmarkValues = Pick<Benchmark, 'name' | 'description' | 'task' | 'metrics'>

const orConflict = conflictIn({
  training_benchmarks_benchmark_fk: 'A training uses this benchmark',
  evaluations_benchmark_fk: 'An evaluation uses this benchmark',
})

const mine = (sql: Sql, grant: SpaceGrant) => sql`b.tenant_id = ${grant.tenantId} and b.space_id = ${grant.spaceId}`

const columns = (sql: Sql) => sql`
  b.id, b.name, b.description, b.task, b.metrics, b.created_at, b.created_by, b.updated_at, b.updated_by,
  coalesce((
    select jsonb_agg(jsonb_build_object('connector_id', c.connector_id, 'keys', c.keys) order by c.position)
    from benchmark_connectors c
    where c.tenant_id = b.tenant_id and c.space_id = b.space_id and c.benchmark_id = b.id), '[]') as connectors`

const entry = (verb: string, grant: SpaceGrant, id: string) => ({
  action: `benchmarks.${verb}`,
  resource: 'benchmarks',
  resourceId: id,
  spaces: [grant.spaceId],
})

export async function listBenchmarks(sql: Sql, grant: SpaceGrant, { page, page_size }: NumberedPage) {
  const [rows, [total]] = await Promise.all([
    sql<Benchmark[]>`
      select ${columns(sql)} from benchmarks b where ${mine(sql, grant)}
      order by b.id desc limit ${page_size + 1} offset ${(page - 1) * page_size}`,
    sql<{ count: number }[]>`select count(*)::int as count from benchmarks b where ${mine(sql, grant)}`,
  ])
  return cut([...rows], page_size, total!.count)
}

export async function getBenchmark(sql: Sql, grant: SpaceGrant, id: string): Promise<Benchmark> {
  const [row] = await sql<Benchmark[]>`
    select ${columns(sql)} from benchmarks b where ${mine(sql, grant)} and b.id = ${id}`
  if (!row) throw new Problem('not_found', 'No such benchmark')
  return row
}

export async function insertBenchmark(
  sql: Sql,
  grant: SpaceGrant,
  { name, description, task, metrics }: BenchmarkValues,
  connectors: readonly ConnectorTraining[],
): Promise<Benchmark> {
  const id = newId()
  await sql`
    insert into benchmarks (tenant_id, space_id, id, name, description, task, metrics, created_by)
    values (${grant.tenantId}, ${grant.spaceId}, ${id}, ${name}, ${description}, ${task}, ${metrics}, ${grant.userId})`
  for (const connector of connectors) await attachConnector(sql, grant, id, connector)
  const after = await getBenchmark(sql, grant, id)
  await audit(sql, grant, { ...entry('create', grant, id), after })
  return after
}

export async function updateBenchmark(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  values: Partial<BenchmarkValues>,
  connector: ConnectorTraining | undefined,
): Promise<Benchmark> {
  await sql`select from benchmarks b where ${mine(sql, grant)} and b.id = ${id} for update`
  const before = await getBenchmark(sql, grant, id)
  if (Object.keys(values).length === 0 && !connector) return before
  const { name, description, task, metrics } = { ...before, ...values }
  await sql`
    update benchmarks b set name = ${name}, description = ${description}, task = ${task}, metrics = ${metrics},
      updated_by = ${grant.userId}, updated_at = now()
    where ${mine(sql, grant)} and b.id = ${id}`
  if (connector) await attachConnector(sql, grant, id, connector)
  const after = await getBenchmark(sql, grant, id)
  await audit(sql, grant, { ...entry('update', grant, id), before, after })
  return after
}

export async function deleteBenchmark(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  const before = await getBenchmark(sql, grant, id)
  await sql`delete from benchmarks b where ${mine(sql, grant)} and b.id = ${id}`.catch(orConflict)
  await audit(sql, grant, { ...entry('delete', grant, id), before })
}

/** Puts a connector behind the others, or in the place of the entry it has already. */
async function attachConnector(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  { connector_id, keys }: ConnectorTraining,
): Promise<void> {
  await sql`
    insert into benchmark_connectors (tenant_id, space_id, benchmark_id, connector_id, position, keys)
    select ${grant.tenantId}, ${grant.spaceId}, ${id}, ${connector_id}, coalesce(max(position), 0) + 1, ${keys}
    from benchmark_connectors
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and benchmark_id = ${id}
    on conflict (tenant_id, space_id, benchmark_id, connector_id) do update set keys = excluded.keys`
}
