// Reads the changes of access out of the database, and tells it how far this replica has come.
import type { Sql } from '../storage/sql.ts'
import type { Changes, SeatRow } from './snapshot.ts'
import type { KeyRow } from './snapshot-keys.ts'

/** Serialises writers of access among themselves and against the renewal of leases. */
export const ACCESS_LOCK = 7_301_002
/** Older changes are dropped; a replica that is further behind loads everything anew. */
const CHANGES_KEPT = 10_000

interface ChangesRow {
  epoch: number
  whole: boolean
  changed_seats: string[] | undefined
  seats: SeatRow[] | undefined
  ended_logins: { id: string; until: number }[] | undefined
  changed_keys: string[] | undefined
  keys: KeyRow[] | undefined
}

/** One statement, so everything in the answer is of one moment. */
export async function readChanges(sql: Sql, since: number): Promise<Changes> {
  const [row] = await sql<ChangesRow[]>`
    with now as (
      select epoch, ${since}::bigint < 0 or ${since}::bigint < epoch - ${CHANGES_KEPT} as whole from authz_epoch
    ), changed as (
      select tenant_id, kind, subject from authz_change where epoch > ${since}
    )
    select epoch, whole,
      (select jsonb_agg(subject) from changed where kind = 'seat') as changed_seats,
      (select jsonb_agg(jsonb_build_object(
          'tenant_id', s.tenant_id, 'id', s.id, 'name', s.name, 'permissions', s.permissions,
          'spaces', array(select p.space_id from seat_spaces p where p.tenant_id = s.tenant_id and p.seat_id = s.id)))
        from seats s
        where whole or (s.tenant_id, s.id) in (select tenant_id, subject::uuid from changed where kind = 'seat')) as seats,
      (select jsonb_agg(jsonb_build_object('id', l.id, 'until', extract(epoch from l.tokens_until)))
        from logins l
        where l.ended_at is not null and l.tokens_until > now() and (
          whole or (l.tenant_id, l.id) in (select tenant_id, subject::uuid from changed where kind = 'login'))) as ended_logins,
      (select jsonb_agg(subject) from changed where kind = 'key') as changed_keys,
      (select jsonb_agg(jsonb_build_object(
          'tenant_id', k.tenant_id, 'id', k.id, 'user_id', k.user_id, 'hash', k.hash, 'seats', k.seats,
          'maker_seats', array(select m.seat_name from memberships m where m.tenant_id = k.tenant_id and m.user_id = k.user_id),
          'expires_at', extract(epoch from k.expires_at)))
        from api_keys k
        where whole or (k.tenant_id, k.id) in (select tenant_id, subject::uuid from changed where kind = 'key')
          or (k.tenant_id, k.user_id) in (select tenant_id, subject from changed where kind = 'member')) as keys
    from now`
  if (!row) throw new Error('The table authz_epoch is empty')
  return {
    epoch: row.epoch,
    whole: row.whole,
    changedSeats: row.changed_seats ?? [],
    seats: row.seats ?? [],
    endedLogins: row.ended_logins ?? [],
    changedKeys: row.changed_keys ?? [],
    keys: row.keys ?? [],
  }
}

/**
 * Renews this replica's lease if it is up to date, and answers with the database's epoch either way. The function runs
 * in one round trip, so a replica that is stopped in the middle of it cannot keep the lock from a writer.
 */
export async function renewLease(sql: Sql, replicaId: string, haveEpoch: number): Promise<number> {
  const [row] = await sql<{ epoch: number }[]>`select authz_renew(${replicaId}::uuid, ${haveEpoch}::bigint) as epoch`
  return row!.epoch
}

/** Takes the lock and the next epoch. What the caller does in the same transaction is ordered against all other changes. */
export async function openEpoch(sql: Sql): Promise<number> {
  // A writer that is stopped while it holds the lock loses its session instead of stopping everybody else.
  await sql`select set_config('idle_in_transaction_session_timeout', '5s', true), set_config('lock_timeout', '15s', true)`
  await sql`select pg_advisory_xact_lock(${ACCESS_LOCK})`
  const [row] = await sql<{ epoch: number }[]>`update authz_epoch set epoch = epoch + 1 returning epoch`
  return row!.epoch
}

export async function recordChange(sql: Sql, epoch: number, tenantId: string, kind: string, subject: string) {
  await sql`
    insert into authz_change (epoch, tenant_id, kind, subject) values (${epoch}, ${tenantId}, ${kind}, ${subject})
    on conflict do nothing`
}

export async function announceEpoch(sql: Sql, epoch: number): Promise<void> {
  if (epoch % 1000 === 0) await sql`delete from authz_change where epoch < ${epoch - CHANGES_KEPT}`
  await sql`select pg_notify('amphi_authz', ${String(epoch)})`
}

/** Says that this replica decides from `epoch` on, and wakes the writer that waits for it. */
export async function acknowledge(sql: Sql, replicaId: string, epoch: number): Promise<void> {
  await sql`
    with mine as (
      update authz_replica set acked = ${epoch} where id = ${replicaId} and acked < ${epoch} returning id
    )
    select pg_notify('amphi_authz_ack', '') from mine`
}

/** The replicas that may still decide from before `epoch`; the writer itself, which asks, does not. */
export async function laggards(sql: Sql, replicaId: string, epoch: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with mine as (
      update authz_replica set acked = ${epoch} where id = ${replicaId} and acked < ${epoch}
    )
    select id from authz_replica where id <> ${replicaId} and acked < ${epoch}`
  return rows.map(({ id }) => id)
}

export async function dismiss(sql: Sql, replicaIds: readonly string[], epoch: number): Promise<void> {
  await sql`delete from authz_replica where id = any(${replicaIds as string[]}::uuid[]) and acked < ${epoch}`
}

export async function withdraw(sql: Sql, replicaId: string): Promise<void> {
  await sql`delete from authz_replica where id = ${replicaId}`
}
