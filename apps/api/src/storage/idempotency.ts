// The rows behind Idempotency-Key (contract 4.0): who began a request, and what it was answered.
import type { Grant } from '../base/grant.ts'
import type { Sql } from './sql.ts'

export interface KeptRequest {
  readonly operation: string
  readonly request_hash: string
  readonly status: number | undefined
  readonly sealed_body: string | undefined
  /** Whether the process that runs the request was heard of within the last seconds. */
  readonly alive: boolean
}

/** When a key was taken: tells the request that holds it from one that held it before. */
export type TakenAt = string

/** Takes the key for this request, or tells who had it before. An entry older than a day counts as gone. */
export async function takeKey(
  sql: Sql,
  grant: Grant,
  request: { key: string; operation: string; hash: string; replicaId: string },
): Promise<TakenAt | KeptRequest> {
  await sql`
    delete from idempotency_keys
    where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} and key = ${request.key}
      and started_at < now() - interval '24 hours'`
  const [taken] = await sql<{ at: TakenAt }[]>`
    insert into idempotency_keys (tenant_id, user_id, key, operation, request_hash, replica_id)
    values (${grant.tenantId}, ${grant.userId}, ${request.key}, ${request.operation}, ${request.hash}, ${request.replicaId})
    on conflict do nothing returning started_at::text as at`
  if (taken) return taken.at
  const [kept] = await sql<KeptRequest[]>`
    select operation, request_hash, status, sealed_body,
      exists (select from authz_replica r where r.id = k.replica_id and r.renewed_at > now() - interval '10 seconds') as alive
    from idempotency_keys k
    where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} and key = ${request.key}`
  return kept ?? takeKey(sql, grant, request)
}

export async function keepAnswer(
  sql: Sql,
  grant: Grant,
  key: string,
  takenAt: TakenAt,
  status: number,
  sealedBody: string,
): Promise<void> {
  await sql`
    update idempotency_keys set status = ${status}, sealed_body = ${sealedBody}
    where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} and key = ${key}
      and started_at = ${takenAt}::text::timestamptz`
}

export async function releaseKey(sql: Sql, grant: Grant, key: string, takenAt: TakenAt): Promise<void> {
  await sql`
    delete from idempotency_keys
    where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} and key = ${key}
      and started_at = ${takenAt}::text::timestamptz`
}

export async function sweepKeys(system: Sql): Promise<void> {
  await system`delete from idempotency_keys where started_at < now() - interval '24 hours'`
}
