// The rows of users. A person has one from the first login or the first update on.
import type { Grant } from '../base/grant.ts'
import { audit } from '../storage/audit.ts'
import type { Sql } from '../storage/sql.ts'

export interface UserRow {
  readonly email?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly role?: string
}

export async function findUser(sql: Sql, grant: Grant): Promise<UserRow | undefined> {
  const [user] = await sql<UserRow[]>`
    select email, first_name, last_name, role from users where tenant_id = ${grant.tenantId} and id = ${grant.userId}`
  return user
}

export async function saveUser(
  sql: Sql,
  grant: Grant,
  values: { [K in keyof UserRow]: UserRow[K] | undefined },
): Promise<void> {
  const before = await findUser(sql, grant)
  const after = { ...before, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) }
  await sql`
    insert into users (tenant_id, id, email, first_name, last_name, role)
    values (${grant.tenantId}, ${grant.userId}, ${after.email ?? null}, ${after.first_name ?? null},
      ${after.last_name ?? null}, ${after.role ?? null})
    on conflict (tenant_id, id) do update set first_name = excluded.first_name, last_name = excluded.last_name,
      role = excluded.role, updated_at = now()`
  await audit(sql, grant, {
    action: 'users.update',
    resource: 'users',
    resourceId: grant.userId,
    spaces: [],
    before,
    after,
  })
}
