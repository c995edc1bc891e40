// The rows of checkpoints, as lists and trainings show them.
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Cursor } from '../../contract/shapes.ts'
import { cut, olderThan } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { Checkpoint, ListedCheckpoint } from './shapes.ts'

const mine = (sql: Sql, grant: SpaceGrant) => sql`c.tenant_id = ${grant.tenantId} and c.space_id = ${grant.spaceId}`

const withTraining = (sql: Sql) => sql`
  checkpoints c join trainings t on t.tenant_id = c.tenant_id and t.space_id = c.space_id and t.id = c.training_id`

const full = (sql: Sql) => sql`
  c.id as _id, c.id, c.name, c.created_at, c.created_by, c.updated_at, c.updated_by, c.data_model_id,
  c.space_id as space, c.training_id, t.name as training_name, c.webhook_event, c.sha256`

export async function listCheckpoints(
  sql: Sql,
  grant: SpaceGrant,
  { limit, after }: Cursor,
  trainingId: string | undefined,
) {
  const matching =
    trainingId === undefined
      ? mine(sql, grant)
      : sql`${mine(sql, grant)} and c.training_id = ${isId(trainingId) ? trainingId : null}::uuid`
  const older = olderThan(sql, 'c.id', after)
  const [rows, [total]] = await Promise.all([
    sql<ListedCheckpoint[]>`
      select c.id, c.name, c.training_id, t.name as training_name, c.webhook_event
      from ${withTraining(sql)} where ${matching} and ${older} order by c.id desc limit ${limit + 1}`,
    sql<{ count: number }[]>`select count(*)::int as count from checkpoints c where ${matching}`,
  ])
  return cut([...rows], limit, total!.count)
}

export async function getCheckpoint(sql: Sql, grant: SpaceGrant, id: string): Promise<Checkpoint> {
  const [row] = await sql<Checkpoint[]>`
    select ${full(sql)} from ${withTraining(sql)} where ${mine(sql, grant)} and c.id = ${id}`
  if (!row) throw new Problem('not_found', 'No such checkpoint')
  return row
}

/** In the order they were made, so that each training's best comes last. */
export async function checkpointsOf(sql: Sql, grant: SpaceGrant, trainingIds: string[]): Promise<Checkpoint[]> {
  return sql<Checkpoint[]>`
    select ${full(sql)} from ${withTraining(sql)}
    where ${mine(sql, grant)} and c.training_id = any(${trainingIds}::uuid[]) order by c.training_id, c.step`
}
