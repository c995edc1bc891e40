// The rows of seats. A caller sees the seats that share a space with the grant.
import type { Grant, TenantGrant } from '../../base/grant.ts'
import { isId, newId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Cursor, Page } from '../../contract/shapes.ts'
import { cut, olderThan } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { ListedSeat, Seat } from './shapes.ts'

const spacesOf = (sql: Sql) => sql`array(
  select p.space_id from seat_spaces p where p.tenant_id = s.tenant_id and p.seat_id = s.id order by p.position)`

export async function getSeat(sql: Sql, grant: TenantGrant, id: string): Promise<Seat> {
  const [seat] = await sql<Seat[]>`
    select s.id, s.name, s.permissions, s.created_by, s.created_at, s.updated_by, s.updated_at, ${spacesOf(sql)} as spaces
    from seats s
    where s.tenant_id = ${grant.tenantId} and s.id = ${id} and exists (
      select from seat_spaces p
      where p.tenant_id = s.tenant_id and p.seat_id = s.id and p.space_id = any(${grant.spaceIds as string[]}::uuid[]))`
  if (!seat) throw new Problem('not_found', 'No such seat')
  return seat
}

export async function listSeats(sql: Sql, grant: TenantGrant, { limit, after }: Cursor): Promise<Page<ListedSeat>> {
  const older = olderThan(sql, 'p.seat_id', after)
  // A page is gathered along the index, space by space, so that its depth costs nothing, whatever the planner believes.
  const [rows, [total]] = await Promise.all([
    sql<ListedSeat[]>`
      with page as materialized (
        select distinct near.seat_id
        from unnest(${grant.spaceIds as string[]}::uuid[]) as space (id)
        cross join lateral (
          select p.seat_id from seat_spaces p
          where p.tenant_id = ${grant.tenantId} and p.space_id = space.id and ${older}
          order by p.seat_id desc limit ${limit + 1}
        ) near
        order by near.seat_id desc limit ${limit + 1}
      )
      select s.id, s.name, s.permissions, s.created_at, ${spacesOf(sql)} as spaces, (
        select count(distinct m.user_id)::int from memberships m
        where m.tenant_id = s.tenant_id and m.seat_name = s.name) as member_count
      from page join seats s on s.tenant_id = ${grant.tenantId} and s.id = page.seat_id
      order by s.id desc`,
    countSeats(sql, grant),
  ])
  return cut(rows, limit, total!.count)
}

/** A seat is in a space once at most, so a single space needs no search for repeats: the common case, four times as fast. */
function countSeats(sql: Sql, { tenantId, spaceIds }: TenantGrant) {
  const [space, ...others] = spaceIds
  if (others.length === 0) {
    return sql<{ count: number }[]>`
      select count(*)::int as count from seat_spaces where tenant_id = ${tenantId} and space_id = ${space!}`
  }
  return sql<{ count: number }[]>`
    select count(*)::int as count from (
      select distinct seat_id from seat_spaces
      where tenant_id = ${tenantId} and space_id = any(${spaceIds as string[]}::uuid[])) seen`
}

export async function insertSeat(
  sql: Sql,
  grant: Grant,
  seat: { name: string; permissions: readonly string[]; spaces: readonly string[]; invitationKey?: string },
): Promise<Seat> {
  const id = newId()
  const [row] = await sql<Omit<Seat, 'spaces'>[]>`
    insert into seats (tenant_id, id, name, permissions, invitation_key, created_by)
    values (${grant.tenantId}, ${id}, ${seat.name}, ${seat.permissions as string[]}, ${seat.invitationKey ?? null}, ${grant.userId})
    returning id, name, permissions, created_by, created_at, updated_by, updated_at`.catch(orNameTaken(seat.name))
  await attach(sql, grant, id, seat.spaces)
  return { ...row!, spaces: [...seat.spaces] }
}

export async function updateSeat(
  sql: Sql,
  grant: Grant,
  id: string,
  seat: { name: string; permissions: readonly string[]; spaces: readonly string[] },
): Promise<Seat> {
  // A seat that was changed by hand no longer stands for the invitations that made it.
  const [row] = await sql<Omit<Seat, 'spaces'>[]>`
    update seats set name = ${seat.name}, permissions = ${seat.permissions as string[]}, invitation_key = null,
      updated_by = ${grant.userId}, updated_at = now()
    where tenant_id = ${grant.tenantId} and id = ${id}
    returning id, name, permissions, created_by, created_at, updated_by, updated_at`.catch(orNameTaken(seat.name))
  if (!row) throw new Problem('not_found', 'No such seat')
  await sql`delete from seat_spaces where tenant_id = ${grant.tenantId} and seat_id = ${id}`
  await attach(sql, grant, id, seat.spaces)
  return { ...row, spaces: [...seat.spaces] }
}

export async function deleteSeat(sql: Sql, grant: Grant, id: string): Promise<void> {
  await sql`delete from seats where tenant_id = ${grant.tenantId} and id = ${id}`
}

/** Adds spaces to a seat, behind those it has. */
export async function attach(sql: Sql, grant: Grant, seatId: string, spaces: readonly string[]): Promise<void> {
  await sql`
    insert into seat_spaces (tenant_id, seat_id, space_id, position)
    select ${grant.tenantId}, ${seatId}, given.id, given.n + (
      select coalesce(max(position), 0) from seat_spaces where tenant_id = ${grant.tenantId} and seat_id = ${seatId})
    from unnest(${spaces as string[]}::uuid[]) with ordinality as given (id, n)
    on conflict do nothing`
}

export async function assertSpacesExist(sql: Sql, grant: Grant, spaces: readonly string[]): Promise<void> {
  const wellFormed = spaces.filter(isId)
  const rows = await sql<{ id: string }[]>`
    select id from spaces where tenant_id = ${grant.tenantId} and id = any(${wellFormed}::uuid[])`
  const known = new Set(rows.map(({ id }) => id))
  const missing = spaces.find((space) => !known.has(space))
  if (missing !== undefined) throw new Problem('invalid_reference', `There is no space ${missing}`, { param: 'spaces' })
}

const orNameTaken =
  (name: string) =>
  (error: { constraint_name?: string }): never => {
    if (error.constraint_name !== 'seats_name_key') throw error
    throw new Problem('seat_name_taken', `A seat named ${name} exists already`, { param: 'name', cause: error })
  }
