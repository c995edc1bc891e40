// The rows of logins under way. They belong to no tenant's session: whoever comes back is not known yet.
import type { Sql } from '../../storage/sql.ts'

export interface StateRow {
  readonly hash: string
  readonly tenant_id: string
  readonly sealed: string
  readonly binding_hash: string
  readonly expires_at: string
}

export async function insertState(
  system: Sql,
  row: Omit<StateRow, 'expires_at'>,
  lifetimeSeconds: number,
): Promise<void> {
  await system`
    insert into login_states (hash, tenant_id, sealed, binding_hash, expires_at)
    values (${row.hash}, ${row.tenant_id}, ${row.sealed}, ${row.binding_hash}, now() + make_interval(secs => ${lifetimeSeconds}))`
}

/** Reading it is using it up: of two callbacks with one state, on whatever replicas, one finds it. */
export async function takeState(system: Sql, hash: string): Promise<(StateRow & { expired: boolean }) | undefined> {
  const [row] = await system<(StateRow & { expired: boolean })[]>`
    delete from login_states where hash = ${hash}
    returning hash, tenant_id, sealed, binding_hash, expires_at, expires_at <= now() as expired`
  return row
}

/** An expired state is kept for another while: whoever comes late is told that it was late. */
export async function sweepStates(system: Sql): Promise<void> {
  await system`delete from login_states where expires_at < now() - interval '10 minutes'`
}
