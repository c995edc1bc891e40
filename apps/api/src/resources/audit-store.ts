// Reads the audit log as far as the grant reaches.
import type { TenantGrant } from '../base/grant.ts'
import type { Cursor } from '../contract/shapes.ts'
import { cut, olderThan } from '../storage/paging.ts'
import type { Sql } from '../storage/sql.ts'

interface AuditRow {
  id: string
  at: string
  actor: string
  action: string
  outcome: 'done' | 'denied' | 'failed'
  resource: string
  resource_id?: string
  spaces: string[]
  before?: Record<string, unknown>
  after?: Record<string, unknown>
  request_id?: string
}

export async function listAudit(sql: Sql, grant: TenantGrant, { limit, after }: Cursor) {
  const spaceIds = grant.spaceIds as string[]
  // What belongs to no space, such as a login, concerns the whole tenant: only who may read all of it sees that.
  const visible = sql`
    tenant_id = ${grant.tenantId} and (spaces && ${spaceIds}::uuid[] or spaces = '{}' and not exists (
      select from spaces s where s.tenant_id = ${grant.tenantId} and s.id <> all(${spaceIds}::uuid[])))`
  const older = olderThan(sql, 'id', after)
  const [rows, [total]] = await Promise.all([
    sql<AuditRow[]>`
      select id, at, actor, action, outcome, resource, resource_id, spaces, before, after, request_id
      from audit where ${visible} and ${older} order by id desc limit ${limit + 1}`,
    sql<{ count: number }[]>`select count(*)::int as count from audit where ${visible}`,
  ])
  return cut(rows, limit, total!.count)
}
