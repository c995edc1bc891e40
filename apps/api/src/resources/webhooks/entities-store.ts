// The entities that webhooks are about, found by id alone or by the token of their job, and the newest event of each.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Client, Sql } from '../../storage/sql.ts'
import { lockCheckpointOf } from '../evaluations/evaluations-store.ts'
import type { WebhookPayload } from './shapes.ts'

export type EntityKind = 'trainings' | 'evaluations' | 'checkpoints' | 'connectors'

export interface Entity {
  readonly kind: EntityKind
  readonly tenant_id: string
  readonly space_id: string
  readonly id: string
}

export interface JobEntity extends Entity {
  readonly kind: 'trainings' | 'evaluations'
  readonly created_by: string
  readonly attempt: number
}

export async function findEntity(system: Client, id: string): Promise<Entity | undefined> {
  const [entity] = await system<Entity[]>`
    select 'trainings' as kind, tenant_id, space_id, id from trainings where id = ${id}
    union all select 'evaluations', tenant_id, space_id, id from evaluations where id = ${id}
    union all select 'checkpoints', tenant_id, space_id, id from checkpoints where id = ${id}
    union all select 'connectors', tenant_id, space_id, id from connectors where id = ${id}`
  return entity
}

export async function findJobByToken(system: Client, hash: string): Promise<JobEntity | undefined> {
  const [job] = await system<JobEntity[]>`
    select 'trainings' as kind, tenant_id, space_id, id, created_by, attempt from trainings
    where token_hash = ${hash} and token_expires_at > now()
    union all
    select 'evaluations', tenant_id, space_id, id, created_by, attempt from evaluations
    where token_hash = ${hash} and token_expires_at > now()`
  return job
}

/**
 * Keeps the event if it is news, and tells the entity's status; nothing when it is older than the one before, or the
 * same. Two events may have one time, since some clocks tell no more than seconds.
 */
export async function keepEvent(
  sql: Sql,
  grant: SpaceGrant,
  kind: EntityKind,
  event: WebhookPayload,
  at: string,
): Promise<{ status?: string } | undefined> {
  if (kind === 'evaluations') await lockCheckpointOf(sql, grant, event.id)
  const [kept] = await sql<{ status?: string }[]>`
    update ${sql(kind)} set webhook_event = ${sql.json(event as never)}, webhook_event_at = ${at}
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${event.id}
      and (webhook_event_at is null or webhook_event_at < ${at}
        or (webhook_event_at = ${at} and webhook_event <> ${sql.json(event as never)}))
    returning ${kind === 'checkpoints' ? sql`null as status` : sql`status`}`
  return kept
}
