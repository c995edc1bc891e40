// The rows behind a login: the person as the provider knows them, the seat names they bear, and the login itself.
import type { Grant } from '../base/grant.ts'
import type { Sql } from '../storage/sql.ts'
import type { ProvidedPerson } from './oidc/claims.ts'

export interface KnownPerson {
  readonly email?: string
  readonly email_verified: boolean
  readonly first_name?: string
  readonly last_name?: string
}

/** Takes over what the provider says and keeps what it does not say. The row stays locked until the transaction ends. */
export async function saveProvidedPerson(sql: Sql, grant: Grant, person: ProvidedPerson): Promise<void> {
  await sql`
    insert into users as u (tenant_id, id, email, email_verified, first_name, last_name, last_login_at)
    values (${grant.tenantId}, ${grant.userId}, ${person.email ?? null}, ${person.emailVerified},
      ${person.firstName ?? null}, ${person.lastName ?? null}, now())
    on conflict (tenant_id, id) do update set
      email = excluded.email, email_verified = excluded.email_verified,
      first_name = coalesce(excluded.first_name, u.first_name),
      last_name = coalesce(excluded.last_name, u.last_name), last_login_at = now()`
}

/** Locks the row too, so that a login and the making of a key for the same person take turns. */
export async function lockPerson(sql: Sql, grant: Grant): Promise<KnownPerson | undefined> {
  const [person] = await sql<KnownPerson[]>`
    select email, email_verified, first_name, last_name from users
    where tenant_id = ${grant.tenantId} and id = ${grant.userId} for update`
  return person
}

/**
 * Makes the person's seat names what the provider and the invitations say now, and tells whether that changed anything.
 * Without `groups`, those of the latest login stay. The address is in lower case, as invitations are.
 */
export async function replaceMemberships(
  sql: Sql,
  grant: Grant,
  groups: readonly string[] | undefined,
  verifiedEmail: string | undefined,
): Promise<boolean> {
  const mine = sql`m.tenant_id = ${grant.tenantId} and m.user_id = ${grant.userId}`
  const byGroup = groups
    ? sql`select name, 'group' from unnest(${groups as string[]}::text[]) as given (name)`
    : sql`select m.seat_name, 'group' from memberships m where ${mine} and m.source = 'group'`
  const [row] = await sql<{ changed: number }[]>`
    with wanted (seat_name, source) as (
      ${byGroup}
      union
      select s.name, 'invitation' from invitations i
      join seats s on s.tenant_id = i.tenant_id and s.id = i.seat_id
      where i.tenant_id = ${grant.tenantId} and i.email = ${verifiedEmail ?? null}
    ), gone as (
      delete from memberships m where ${mine} and (m.seat_name, m.source) not in (select seat_name, source from wanted)
      returning 1
    ), come as (
      insert into memberships (tenant_id, seat_name, user_id, source)
      select ${grant.tenantId}, seat_name, ${grant.userId}, source from wanted
      on conflict do nothing returning 1
    )
    select (select count(*)::int from gone) + (select count(*)::int from come) as changed`
  return row!.changed > 0
}

export async function readSeatNames(sql: Sql, grant: Grant): Promise<string[]> {
  const rows = await sql<{ seat_name: string }[]>`
    select distinct seat_name from memberships
    where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} order by seat_name`
  return rows.map(({ seat_name }) => seat_name)
}

export async function hasKeys(sql: Sql, grant: Grant): Promise<boolean> {
  const rows = await sql`
    select from api_keys where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} limit 1`
  return rows.length > 0
}

export interface LoginTimes {
  readonly loginSeconds: number
  readonly tokenSeconds: number
}

// A minute more than tokens live: the clock of the database is not the clock that stamps them.
const tokensUntil = (sql: Sql, tokenSeconds: number) => sql`now() + make_interval(secs => ${tokenSeconds + 60})`

export async function insertLogin(sql: Sql, grant: Grant, id: string, times: LoginTimes): Promise<void> {
  await sql`
    insert into logins (tenant_id, id, user_id, expires_at, tokens_until)
    values (${grant.tenantId}, ${id}, ${grant.userId}, now() + make_interval(secs => ${times.loginSeconds}),
      ${tokensUntil(sql, times.tokenSeconds)})`
}

/** False when the login was ended, is too old, or never was. */
export async function prolongLogin(sql: Sql, grant: Grant, id: string, tokenSeconds: number): Promise<boolean> {
  const rows = await sql`
    update logins set tokens_until = ${tokensUntil(sql, tokenSeconds)}
    where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} and id = ${id}
      and ended_at is null and expires_at > now()
    returning id`
  return rows.length > 0
}

export async function endLogin(sql: Sql, grant: Grant, id: string): Promise<void> {
  await sql`
    update logins set ended_at = now()
    where tenant_id = ${grant.tenantId} and user_id = ${grant.userId} and id = ${id} and ended_at is null`
}

/** A login is of no use once it cannot be refreshed and none of its tokens is valid. */
export async function sweepLogins(system: Sql): Promise<void> {
  await system`delete from logins where tokens_until < now() and expires_at < now()`
}
