// Reads the audit log as far as the grant reaches.
import type { TenantGrant } from '../base/grant.ts'
import type { Cursor } from '../contract/shapes.ts'
import { cut, olderThan } from '../storage/paging.ts'
import { countTenantRows } from '../storage/row-counts.ts'
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

const ofTenant = (sql: Sql, { tenantId }: TenantGrant) => sql`tenant_id = ${tenantId}`
const ofSpaces = (sql: Sql, { tenantId, spaceIds }: TenantGrant) =>
  sql`tenant_id = ${tenantId} and spaces && ${spaceIds as string[]}::uuid[]`

export async function listAudit(sql: Sql, grant: TenantGrant, { limit, after }: Cursor) {
  const isWhole = await reachesEverySpace(sql, grant)
  const visible = isWhole ? ofTenant(sql, grant) : ofSpaces(sql, grant)
  const older = olderThan(sql, 'id', after)
  const [rows, total] = await Promise.all([
    sql<AuditRow[]>`
      select id, at, actor, action, outcome, resource, resource_id, spaces, before, after, request_id
      from audit where ${visible} and ${older} order by id desc limit ${limit + 1}`,
    isWhole ? countTenantRows(sql, grant, 'audit') : countOfSpaces(sql, grant),
  ])
  return cut(rows, limit, total)
}

/** Whoever may read the log in every space there is reads all of it: what belongs to no space, or to one that is gone. */
async function reachesEverySpace(sql: Sql, { tenantId, spaceIds }: TenantGrant): Promise<boolean> {
  const beyond = await sql`
    select from spaces where tenant_id = ${tenantId} and id <> all(${spaceIds as string[]}::uuid[]) limit 1`
  return beyond.length === 0
}

async function countOfSpaces(sql: Sql, grant: TenantGrant): Promise<number> {
  const [total] = await sql<{ count: number }[]>`
    select count(*)::int as count from audit where ${ofSpaces(sql, grant)}`
  return total!.count
}
