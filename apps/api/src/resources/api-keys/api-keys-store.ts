// The rows of API keys. A caller reaches the own ones, and everyone's with the permission in every space of the tenant.
import type { TenantGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Cursor, Page } from '../../contract/shapes.ts'
import { cut, olderThan } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { ApiKey } from './shapes.ts'

const columns = (sql: Sql) => sql`id, name, prefix, seats, created_at, user_id as created_by, expires_at, last_used_at`

const reachable = (sql: Sql, grant: TenantGrant) => sql`
  tenant_id = ${grant.tenantId} and (user_id = ${grant.userId} or not exists (
    select from spaces s where s.tenant_id = ${grant.tenantId} and s.id <> all(${grant.spaceIds as string[]}::uuid[])))`

export async function listKeys(sql: Sql, grant: TenantGrant, { limit, after }: Cursor): Promise<Page<ApiKey>> {
  const older = olderThan(sql, 'id', after)
  const [rows, [total]] = await Promise.all([
    sql<ApiKey[]>`
      select ${columns(sql)} from api_keys where ${reachable(sql, grant)} and ${older}
      order by id desc limit ${limit + 1}`,
    sql<{ count: number }[]>`select count(*)::int as count from api_keys where ${reachable(sql, grant)}`,
  ])
  return cut(rows, limit, total!.count)
}

export interface KeyValues {
  readonly name: string
  readonly seats: readonly string[]
  readonly prefix: string
  readonly hash: string
  readonly parentId: string | undefined
  readonly expiresAt: string | undefined
}

export async function countOwnKeys(sql: Sql, grant: TenantGrant): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from api_keys where tenant_id = ${grant.tenantId} and user_id = ${grant.userId}`
  return row!.count
}

export async function insertKey(sql: Sql, grant: TenantGrant, values: KeyValues): Promise<ApiKey> {
  const [row] = await sql<ApiKey[]>`
    insert into api_keys (tenant_id, id, user_id, parent_id, name, prefix, hash, seats, expires_at)
    values (${grant.tenantId}, ${newId()}, ${grant.userId}, ${values.parentId ?? null}, ${values.name}, ${values.prefix},
      ${values.hash}, ${values.seats as string[]}, ${values.expiresAt ?? null})
    returning ${columns(sql)}`
  return row!
}

/** Deletes the key and all that were made with it, and answers with them, the key first. */
export async function deleteKey(sql: Sql, grant: TenantGrant, id: string): Promise<ApiKey[]> {
  const [key] = await sql<ApiKey[]>`
    select ${columns(sql)} from api_keys where ${reachable(sql, grant)} and id = ${id}`
  if (!key) throw new Problem('not_found', 'No such API key')
  const rows = await sql<ApiKey[]>`
    with recursive family (id) as (
      select ${id}::uuid
      union
      select k.id from api_keys k join family on k.parent_id = family.id where k.tenant_id = ${grant.tenantId}
    )
    delete from api_keys where tenant_id = ${grant.tenantId} and id in (select id from family)
    returning ${columns(sql)}`
  return [key, ...rows.filter((row) => row.id !== id)]
}
