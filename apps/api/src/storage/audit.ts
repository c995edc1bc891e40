// The audit log (contract 5.4): entries are added in the transaction of the change they tell of, and only read after that.
import type { Grant } from '../base/grant.ts'
import { newId } from '../base/ids.ts'
import type { Sql } from './sql.ts'

export interface AuditEntry {
  readonly action: string
  readonly resource: string
  readonly resourceId?: string | undefined
  readonly spaces: readonly string[]
  readonly before?: unknown
  readonly after?: unknown
  readonly outcome?: 'done' | 'denied' | 'failed'
}

export async function audit(sql: Sql, grant: Grant, entry: AuditEntry): Promise<void> {
  await sql`
    insert into audit (tenant_id, id, actor, action, outcome, resource, resource_id, spaces, before, after, request_id)
    values (${grant.tenantId}, ${newId()}, ${grant.userId}, ${entry.action}, ${entry.outcome ?? 'done'}, ${entry.resource},
      ${entry.resourceId ?? null}, ${entry.spaces as string[]}, ${json(sql, entry.before)}, ${json(sql, entry.after)},
      ${grant.requestId})`
}

const json = (sql: Sql, value: unknown) => (value === undefined ? null : sql.json(value as never))
