// The events of a training (contract 2.27), newest first for lists and in their order for followers.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Cursor } from '../../contract/shapes.ts'
import { cut, olderThan } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { TrainingEvent } from './shapes.ts'

const of = (sql: Sql, grant: SpaceGrant, trainingId: string) =>
  sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and training_id = ${trainingId}`

export async function listEvents(sql: Sql, grant: SpaceGrant, trainingId: string, { limit, after }: Cursor) {
  const mine = of(sql, grant, trainingId)
  const older = olderThan(sql, 'id', after)
  const [rows, [total]] = await Promise.all([
    sql<TrainingEvent[]>`
      select id, status, attempt, reason, created_at from training_events
      where ${mine} and ${older} order by id desc limit ${limit + 1}`,
    sql<{ count: number }[]>`select count(*)::int as count from training_events where ${mine}`,
  ])
  return cut([...rows], limit, total!.count)
}

/** All of them, oldest first: a training has few, and clocks of several machines may put a new one before an old one. */
export async function eventsInOrder(sql: Sql, grant: SpaceGrant, trainingId: string): Promise<TrainingEvent[]> {
  return sql<TrainingEvent[]>`
    select id, status, attempt, reason, created_at from training_events
    where ${of(sql, grant, trainingId)} order by created_at, id`
}
