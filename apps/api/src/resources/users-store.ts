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
  const [before] = await sql<UserRow[]>`
    select email, first_name, last_name, role from users
    where tenant_id = ${grant.tenantId} and id = ${grant.userId} for update`
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  // What another request changes at the same time stays, also where both are the person's first.
  const [after] = await sql<UserRow[]>`
    insert into users as u (tenant_id, id, email, first_name, last_name, role)
    values (${grant.tenantId}, ${grant.userId}, ${given['email'] ?? null}, ${given['first_name'] ?? null},
      ${given['last_name'] ?? null}, ${given['role'] ?? null})
    on conflict (tenant_id, id) do update set first_name = coalesce(excluded.first_name, u.first_name),
      last_name = coalesce(excluded.last_name, u.last_name), role = coalesce(excluded.role, u.role), updated_at = now()
    returning email, first_name, last_name, role`
  await audit(sql, grant, {
    action: 'users.update',
    resource: 'users',
    resourceId: grant.userId,
    spaces: [],
    before,
    after,
  })
}
