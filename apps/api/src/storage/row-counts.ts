// The counts of tables that hold millions of rows. The database notes each change; here they are summed.
import type { Grant, SpaceGrant } from '../base/grant.ts'
import type { Sql } from './sql.ts'

export async function countRows(sql: Sql, grant: SpaceGrant, table: string): Promise<number> {
  const [total] = await sql<{ count: number }[]>`
    select coalesce(sum(change), 0)::int as count from row_counts
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and table_name = ${table}`
  return total!.count
}

/** For a table whose rows belong to the tenant: their notes name no space. */
export async function countTenantRows(sql: Sql, grant: Grant, table: string): Promise<number> {
  const [total] = await sql<{ count: number }[]>`
    select coalesce(sum(change), 0)::int as count from row_counts
    where tenant_id = ${grant.tenantId} and space_id is null and table_name = ${table}`
  return total!.count
}

const FOLDING_LOCK = 7_301_003

/**
 * Makes one of many changes, so that there are never many to sum. Readers see all of them or the one. A note is never
 * updated, so its place in the table names it.
 */
export async function foldRowCounts(system: Sql): Promise<void> {
  await system`
    with turn as materialized (
      select pg_try_advisory_xact_lock(${FOLDING_LOCK}) as is_mine
    ), notes as (
      select ctid, count(*) over (partition by tenant_id, space_id, table_name) as beside
      from row_counts where (select is_mine from turn)
    ), folded as (
      delete from row_counts c using notes n where c.ctid = n.ctid and n.beside > 1
      returning c.*
    )
    insert into row_counts (tenant_id, space_id, table_name, change)
    select tenant_id, space_id, table_name, sum(change) from folded group by tenant_id, space_id, table_name
    having sum(change) <> 0`
}
