// The rows of trainings, each with its connectors, benchmarks, checkpoints and rounds.
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { NumberedPage } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { cut } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import { checkpointsOf } from '../checkpoints/checkpoints-store.ts'
import type { ConnectorTraining } from '../connectors/shapes.ts'
import type { Training } from './shapes.ts'
import { addEvent } from './training-state-store.ts'

/** A training without what grows while it runs. */
export type TrainingRow = Omit<Training, 'checkpoints' | 'metrics'> & {
  readonly attempt: number
  readonly revision: number
}

export type NewTrainingValues = Pick<
  Training,
  'name' | 'architecture' | 'data_model_id' | 'gpu_count' | 'configuration' | 'connectors' | 'benchmark_ids'
>

const mine = (sql: Sql, grant: SpaceGrant) => sql`t.tenant_id = ${grant.tenantId} and t.space_id = ${grant.spaceId}`

const columns = (sql: Sql) => sql`
  t.id, t.name, t.architecture, t.data_model_id, t.gpu_count, t.configuration, t.status, t.error, t.attempt,
  t.revision, t.created_at, t.updated_at,
  coalesce((
    select jsonb_agg(jsonb_build_object('connector_id', c.connector_id, 'keys', c.keys) order by c.position)
    from training_connectors c
    where c.tenant_id = t.tenant_id and c.space_id = t.space_id and c.training_id = t.id), '[]') as connectors,
  array(
    select b.benchmark_id::text from training_benchmarks b
    where b.tenant_id = t.tenant_id and b.space_id = t.space_id and b.training_id = t.id
    order by b.position) as benchmark_ids`

export async function listTrainings(sql: Sql, grant: SpaceGrant, { page, page_size }: NumberedPage) {
  const [rows, [total]] = await Promise.all([
    sql<TrainingRow[]>`
      select ${columns(sql)} from trainings t where ${mine(sql, grant)}
      order by t.id desc limit ${page_size + 1} offset ${(page - 1) * page_size}`,
    sql<{ count: number }[]>`select count(*)::int as count from trainings t where ${mine(sql, grant)}`,
  ])
  const { data, ...rest } = cut([...rows], page_size, total!.count)
  return { ...rest, data: await withParts(sql, grant, data) }
}

export async function getTraining(sql: Sql, grant: SpaceGrant, id: string): Promise<Training> {
  const [training] = await withParts(sql, grant, [await getTrainingRow(sql, grant, id)])
  return training!
}

export async function getTrainingRow(sql: Sql, grant: SpaceGrant, id: string): Promise<TrainingRow> {
  const row = await findTrainingRow(sql, grant, id)
  if (!row) throw new Problem('not_found', 'No such training')
  return row
}

export async function findTrainingRow(sql: Sql, grant: SpaceGrant, id: string): Promise<TrainingRow | undefined> {
  const [row] = await sql<TrainingRow[]>`
    select ${columns(sql)} from trainings t where ${mine(sql, grant)} and t.id = ${id}`
  return row
}

/** Until the transaction ends, nobody else changes the training. */
export async function lockTraining(sql: Sql, grant: SpaceGrant, id: string): Promise<TrainingRow> {
  await sql`select from trainings t where ${mine(sql, grant)} and t.id = ${id} for update`
  return getTrainingRow(sql, grant, id)
}

export async function insertTraining(sql: Sql, grant: SpaceGrant, values: NewTrainingValues): Promise<Training> {
  const id = newId()
  const { name, architecture, data_model_id, gpu_count, configuration, connectors, benchmark_ids } = values
  await sql`
    insert into trainings (tenant_id, space_id, id, name, architecture, data_model_id, gpu_count, configuration, created_by)
    values (${grant.tenantId}, ${grant.spaceId}, ${id}, ${name}, ${architecture}, ${data_model_id}, ${gpu_count},
      ${sql.json(configuration as never)}, ${grant.userId})`
  for (const connector of connectors) await attachConnector(sql, grant, id, connector)
  await setBenchmarks(sql, grant, id, benchmark_ids)
  await addEvent(sql, grant, id, 'validating', 0)
  const after = await getTraining(sql, grant, id)
  await note(sql, grant, 'create', id, { after: toEntry(after) })
  return after
}

export type TrainingUpdate = Partial<Pick<Training, 'name' | 'architecture' | 'configuration' | 'benchmark_ids'>> & {
  readonly connector?: ConnectorTraining
}

/** A change of what is to be trained makes a new revision, which is then validated afresh. */
export async function updateTraining(
  sql: Sql,
  grant: SpaceGrant,
  before: TrainingRow,
  { connector, benchmark_ids, ...values }: TrainingUpdate,
  changesWork: boolean,
): Promise<void> {
  const { id } = before
  const { name, architecture, configuration } = { ...before, ...values }
  await sql`
    update trainings t set name = ${name}, architecture = ${architecture}, updated_at = now(), updated_by = ${grant.userId},
      configuration = ${sql.json(configuration as never)}, revision = revision + ${changesWork ? 1 : 0}
    where ${mine(sql, grant)} and t.id = ${id}`
  if (connector) await attachConnector(sql, grant, id, connector)
  if (benchmark_ids) await setBenchmarks(sql, grant, id, benchmark_ids)
  const after = await getTrainingRow(sql, grant, id)
  await note(sql, grant, 'update', id, { before: toEntry(before), after: toEntry(after) })
}

export async function deleteTraining(sql: Sql, grant: SpaceGrant, before: TrainingRow): Promise<void> {
  await sql`delete from trainings t where ${mine(sql, grant)} and t.id = ${before.id}`
  await note(sql, grant, 'delete', before.id, { before: toEntry(before) })
}

export async function note(
  sql: Sql,
  grant: SpaceGrant,
  verb: string,
  id: string,
  states: { before?: object; after?: object },
): Promise<void> {
  const entry = { action: `trainings.${verb}`, resource: 'trainings', resourceId: id, spaces: [grant.spaceId] }
  await audit(sql, grant, { ...entry, ...states })
}

/** What people decide about a training; what it comes to by itself is in its events. */
const toEntry = ({
  id,
  name,
  architecture,
  configuration,
  connectors,
  benchmark_ids,
  status,
}: Omit<TrainingRow, 'attempt' | 'revision'>) => ({
  ...{ id, name, architecture, configuration, connectors, benchmark_ids, status },
})

async function withParts(sql: Sql, grant: SpaceGrant, rows: readonly TrainingRow[]): Promise<Training[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const [checkpoints, rounds] = await Promise.all([
    checkpointsOf(sql, grant, ids),
    sql<{ training_id: string; metrics: Training['metrics'] }[]>`
      select training_id, jsonb_agg(round order by step) as metrics from training_rounds
      where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and training_id = any(${ids}::uuid[])
      group by training_id`,
  ])
  const byTraining = Map.groupBy(checkpoints, ({ training_id }) => training_id)
  const metrics = new Map(rounds.map((row) => [row.training_id, row.metrics]))
  return rows.map((row) => ({
    ...row,
    checkpoints: byTraining.get(row.id) ?? [],
    metrics: metrics.get(row.id) ?? [],
  }))
}

async function setBenchmarks(sql: Sql, grant: SpaceGrant, id: string, benchmarkIds: readonly string[]): Promise<void> {
  await sql`
    delete from training_benchmarks
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and training_id = ${id}`
  await sql`
    insert into training_benchmarks (tenant_id, space_id, training_id, benchmark_id, position)
    select ${grant.tenantId}, ${grant.spaceId}, ${id}, benchmark_id, position
    from unnest(${[...new Set(benchmarkIds)]}::uuid[]) with ordinality as given (benchmark_id, position)`
}

/** Puts a connector behind the others, or in the place of the entry it has already. */
async function attachConnector(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  { connector_id, keys }: ConnectorTraining,
): Promise<void> {
  await sql`
    insert into training_connectors (tenant_id, space_id, training_id, connector_id, position, keys)
    select ${grant.tenantId}, ${grant.spaceId}, ${id}, ${connector_id}, coalesce(max(position), 0) + 1, ${keys}
    from training_connectors
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and training_id = ${id}
    on conflict (tenant_id, space_id, training_id, connector_id) do update set keys = excluded.keys`
}
