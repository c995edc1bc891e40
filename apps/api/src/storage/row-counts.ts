// The counts of tables that hold millions of rows in a space. The database notes each change; here they are summed.
import type { SpaceGrant } from '../base/grant.ts'
import type { Sql } from './sql.ts'

export async function countRows(sql: Sql, grant: SpaceGrant, table: string): Promise<number> {
  const [total] = await sql<{ count: number }[]>`
    select coalesce(sum(change), 0)::int as count from row_counts
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and table_name = ${table}`
  return total!.count
}

const FOLDING_LOCK = 7_301_003

/** Makes one of many changes, so that there are never many to sum. Readers see all of them or the one. */
export async function foldRowCounts(system: Sql): Promise<void> {
  await system`
    with turn as materialized (
      select pg_try_advisory_xact_lock(${FOLDING_LOCK}) as is_mine
    ), many as (
      select tenant_id, space_id, table_name from row_counts where (select is_mine from turn)
      group by tenant_id, space_id, table_name having count(*) > 1
    ), folded as (
      delete from row_counts c using many m
      where c.tenant_id = m.tenant_id and c.space_id = m.space_id and c.table_name = m.table_name
      returning c.*
    )
    insert into row_counts (tenant_id, space_id, table_name, change)
    select tenant_id, space_id, table_name, sum(change) from folded group by tenant_id, space_id, table_name
    having sum(change) <> 0`
}
