// What finalizing does to personas: statements over all rows of an upload at once.
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import type { Sql } from '../../storage/sql.ts'
import { type StagedUploadRow, stagedRows } from './uploads-store.ts'

/** An identifier holds 4096 in a millisecond. */
const IDS_PER_MS = 4096

export async function createAll(sql: Sql, grant: SpaceGrant, upload: StagedUploadRow): Promise<number> {
  const { count } = await sql`
    insert into personas (tenant_id, space_id, id, name, notes, birthdate, data, created_by)
    select ${grant.tenantId}, ${grant.spaceId}, ${idInOrder(sql, upload)}, name, notes, birthdate, data, ${grant.userId}
    from (${stagedRows(sql, grant, upload.id)}) s`
  return count
}

/** Of rows that have the same name and birthdate the first or the last counts, if the space does not know them yet. */
export async function createNew(sql: Sql, grant: SpaceGrant, upload: StagedUploadRow, which: 'first' | 'last') {
  const { count } = await sql`
    insert into personas (tenant_id, space_id, id, name, notes, birthdate, data, created_by)
    select ${grant.tenantId}, ${grant.spaceId}, ${idInOrder(sql, upload)}, name, notes, birthdate, data, ${grant.userId}
    from (${oneOfEach(sql, grant, upload, which)}) s
    where not exists (
      select from personas p
      where p.tenant_id = ${grant.tenantId} and p.space_id = ${grant.spaceId}
        and p.name = s.name and p.birthdate = s.birthdate)`
  return count
}

/** Where the space has several personas of that name and birthdate, the newest is taken to be meant. */
export async function overwriteKnown(sql: Sql, grant: SpaceGrant, upload: StagedUploadRow): Promise<number> {
  const { count } = await sql`
    with known as (
      select distinct on (p.name, p.birthdate) p.id, s.notes, s.data
      from (${oneOfEach(sql, grant, upload, 'last')}) s join personas p
        on p.tenant_id = ${grant.tenantId} and p.space_id = ${grant.spaceId}
        and p.name = s.name and p.birthdate = s.birthdate
      order by p.name, p.birthdate, p.id desc)
    update personas p set notes = k.notes, data = k.data, updated_by = ${grant.userId}, updated_at = now()
    from known k where p.tenant_id = ${grant.tenantId} and p.space_id = ${grant.spaceId} and p.id = k.id`
  return count
}

/** Nearly always there is only one of each to begin with, and a million rows need not be sorted. */
function oneOfEach(sql: Sql, grant: SpaceGrant, upload: StagedUploadRow, which: 'first' | 'last') {
  const rows = stagedRows(sql, grant, upload.id)
  if (upload.repeats === 0) return rows
  return sql`
    select distinct on (name, birthdate) * from (${rows}) r
    order by name, birthdate, position ${which === 'first' ? sql`asc` : sql`desc`}`
}

/** UUIDv7 in the order of the rows, ending now: personas are as old as their finalization, not as their upload. */
function idInOrder(sql: Sql, { total }: StagedUploadRow) {
  const startMs = Date.now() - Math.floor(total / IDS_PER_MS)
  // The random part is the upload's: within it, time and count tell the rows apart.
  const random = newId().slice('tttttttt-tttt-7nnn'.length)
  return sql`(
    overlay(lpad(to_hex(${startMs}::bigint + position / ${IDS_PER_MS}::int), 12, '0') placing '-' from 9 for 0)
      || '-7' || lpad(to_hex(position % ${IDS_PER_MS}::int), 3, '0') || ${random})::uuid`
}
