// The rows of spaces, and of the invitations to them.
import type { Grant, SpaceGrant, TenantGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Cursor, Page } from '../../contract/shapes.ts'
import { cut, olderThan } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { ListedSpace, Space } from './shapes.ts'

const columns = (sql: Sql) => sql`id, name, description, created_at, created_by, updated_at, updated_by`

export async function listSpaces(sql: Sql, grant: TenantGrant, { limit, after }: Cursor): Promise<Page<ListedSpace>> {
  const spaceIds = grant.spaceIds as string[]
  const older = olderThan(sql, 's.id', after)
  // A person who has never signed in has no record; the identifier is all there is to show.
  const person = (column: string) => sql`(
    select jsonb_strip_nulls(jsonb_build_object('id', given.id, 'external_id', given.id, 'email', u.email,
      'first_name', u.first_name, 'last_name', u.last_name, 'role', u.role))
    from (select ${sql(column)} as id) given left join users u on u.tenant_id = s.tenant_id and u.id = given.id
    where given.id is not null)`
  const [rows, [total]] = await Promise.all([
    sql<ListedSpace[]>`
      select s.id, s.name, s.description, s.created_at, s.updated_at,
        ${person('s.created_by')} as created_by, ${person('s.updated_by')} as updated_by
      from spaces s where s.tenant_id = ${grant.tenantId} and s.id = any(${spaceIds}::uuid[]) and ${older}
      order by s.id desc limit ${limit + 1}`,
    sql<{ count: number }[]>`
      select count(*)::int as count from spaces where tenant_id = ${grant.tenantId} and id = any(${spaceIds}::uuid[])`,
  ])
  return cut(rows, limit, total!.count)
}

export async function spacesById(sql: Sql, grant: Grant, spaceIds: readonly string[]): Promise<Space[]> {
  return sql<Space[]>`
    select ${columns(sql)} from spaces
    where tenant_id = ${grant.tenantId} and id = any(${spaceIds as string[]}::uuid[]) order by id desc`
}

export async function getSpace(sql: Sql, grant: SpaceGrant): Promise<Space> {
  const [space] = await sql<Space[]>`
    select ${columns(sql)} from spaces where tenant_id = ${grant.tenantId} and id = ${grant.spaceId}`
  return found(space)
}

/** For changes that begin with a look at what is there: they come one after the other. */
export async function lockSpace(sql: Sql, grant: SpaceGrant): Promise<void> {
  const [space] = await sql<Space[]>`
    select ${columns(sql)} from spaces where tenant_id = ${grant.tenantId} and id = ${grant.spaceId} for no key update`
  found(space)
}

export async function insertSpace(
  sql: Sql,
  grant: Grant,
  values: { name: string; description: string },
): Promise<Space> {
  const [space] = await sql<Space[]>`
    insert into spaces (tenant_id, id, name, description, created_by)
    values (${grant.tenantId}, ${newId()}, ${values.name}, ${values.description}, ${grant.userId})
    returning ${columns(sql)}`
  return space!
}

export async function updateSpace(
  sql: Sql,
  grant: SpaceGrant,
  values: { name: string; description: string },
): Promise<Space> {
  const [space] = await sql<Space[]>`
    update spaces set name = ${values.name}, description = ${values.description}, updated_by = ${grant.userId}, updated_at = now()
    where tenant_id = ${grant.tenantId} and id = ${grant.spaceId} returning ${columns(sql)}`
  return found(space)
}

/** Seats that belong to no other space go with it: they could grant nothing, and nobody could see them any more. */
export async function deleteSpace(sql: Sql, grant: SpaceGrant): Promise<void> {
  await sql`
    delete from seats s
    where s.tenant_id = ${grant.tenantId}
      and exists (select from seat_spaces p where p.tenant_id = s.tenant_id and p.seat_id = s.id and p.space_id = ${grant.spaceId})
      and not exists (select from seat_spaces p where p.tenant_id = s.tenant_id and p.seat_id = s.id and p.space_id <> ${grant.spaceId})`
  // What the space owns may refer to one another, and goes in no particular order.
  await sql`set constraints all deferred`
  await sql`delete from spaces where tenant_id = ${grant.tenantId} and id = ${grant.spaceId}`
}

export async function findAdminSeatId(sql: Sql, grant: Grant): Promise<string | undefined> {
  const [tenant] = await sql<{ admin_seat_id?: string }[]>`
    select admin_seat_id from tenants where tenant_id = ${grant.tenantId}`
  return tenant?.admin_seat_id
}

export async function findInvitationSeat(sql: Sql, grant: SpaceGrant, key: string): Promise<string | undefined> {
  const [seat] = await sql<{ id: string }[]>`
    select id from seats where tenant_id = ${grant.tenantId} and invitation_key = ${key}`
  return seat?.id
}

/** Answers with the addresses that were not invited to this seat before. */
export async function insertInvitations(
  sql: Sql,
  grant: SpaceGrant,
  seatId: string,
  emails: string[],
): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    insert into invitations ${sql(
      emails.map((email) => ({
        tenant_id: grant.tenantId,
        id: newId(),
        space_id: grant.spaceId,
        seat_id: seatId,
        email,
        created_by: grant.userId,
      })) as never,
    )}
    on conflict do nothing returning email`
  return rows.map(({ email }) => email)
}

function found(space: Space | undefined): Space {
  if (!space) throw new Problem('not_found', 'No such space')
  return space
}
