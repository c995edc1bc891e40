// The rows of uploads: opened while files are read, staged once complete, closed by finalizing, swept when their time is up.
import type { SpaceGrant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import { runLarge, type Sql } from '../../storage/sql.ts'
import { digestOf } from './upload-token.ts'

export interface StagedUploadRow {
  readonly id: string
  readonly total: number
  /** Rows that have the name and birthdate of an earlier row of the same upload. */
  readonly repeats: number
}

const CONFLICTS_SHOWN_MAX = 100

/** Longer than a request may last, so that the sweep never takes what is still being sent. */
export async function openUpload(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  await sql`
    insert into persona_uploads (tenant_id, space_id, id, user_id, expires_at)
    values (${grant.tenantId}, ${grant.spaceId}, ${id}, ${grant.userId}, now() + interval '1 hour')`
}

/** The rows come as JSON, one after the other, and are laid out once for the two times that they will be read. */
export async function insertBatch(sql: Sql, grant: SpaceGrant, id: string, start: number, rows: string): Promise<void> {
  await runLarge(sql`
    insert into persona_upload_batches
      (tenant_id, space_id, upload_id, first_position, names, notes, birthdates, data)
    select ${grant.tenantId}, ${grant.spaceId}, ${id}, ${start}::int,
      array_agg(r.name order by nth), array_agg(r.notes order by nth), array_agg(r.birthdate order by nth),
      array_agg(r.data order by nth)
    from rows from (json_to_recordset(('[' || ${rows}::text || ']')::json)
      as (name text, notes text, birthdate date, data jsonb)) with ordinality as r (name, notes, birthdate, data, nth)`)
}

export async function completeUpload(sql: Sql, grant: SpaceGrant, upload: StagedUploadRow, token: string) {
  await sql`
    update persona_uploads
    set token_hash = ${digestOf(token)}, total = ${upload.total}, repeats = ${upload.repeats},
      expires_at = now() + interval '1 day'
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${upload.id}`
}

export async function discardUpload(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  await sql`
    update persona_uploads set expires_at = now()
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${id}`
}

/** Takes the upload for this transaction. Two at once, and the second is told so without waiting. */
export async function claimUpload(sql: Sql, grant: SpaceGrant, token: string): Promise<StagedUploadRow> {
  await allowLongStatements(sql)
  const mine = sql`
    tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and user_id = ${grant.userId}
    and token_hash = ${digestOf(token)} and expires_at > now()`
  const [claimed] = await sql<(StagedUploadRow & { finalized_at?: string })[]>`
    select id, total, repeats, finalized_at from persona_uploads where ${mine} for update skip locked`
  if (!claimed) {
    const [busy] = await sql`select id from persona_uploads where ${mine}`
    if (busy) throw new Problem('conflict', 'This upload is being finalized right now', { retryAfterSeconds: 1 })
    const message = 'There is no such upload of yours in this space, or it has expired'
    throw new Problem('upload_token_invalid', message, { param: 'upload_token' })
  }
  if (claimed.finalized_at) throw new Problem('conflict', 'This upload was finalized already')
  // Two uploads of one space must see each other's personas, or both would create what is the same in them.
  await sql`select pg_advisory_xact_lock(${UPLOADS_OF_A_SPACE}::int, hashtext(${grant.spaceId}))`
  return claimed
}

const UPLOADS_OF_A_SPACE = 7301

export async function closeUpload(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  await sql`
    delete from persona_upload_batches
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and upload_id = ${id}`
  await sql`
    update persona_uploads set finalized_at = now()
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${id}`
}

/** The rows of an upload, as they were in its files. */
export const stagedRows = (sql: Sql, grant: SpaceGrant, id: string) => sql`
  select (b.first_position + r.nth - 1)::int as position, r.name collate "C" as name, r.notes, r.birthdate, r.data
  from persona_upload_batches b cross join lateral
    unnest(b.names, b.notes, b.birthdates, b.data) with ordinality as r (name, notes, birthdate, data, nth)
  where b.tenant_id = ${grant.tenantId} and b.space_id = ${grant.spaceId} and b.upload_id = ${id}`

/** Rows that have the name and birthdate of a persona of the space, or of an earlier row. */
export async function findConflicts(sql: Sql, grant: SpaceGrant, id: string) {
  await allowLongStatements(sql)
  const rows = await sql<{ name: string; birthdate: string; total: number; repeats: number }[]>`
    with staged as (
      select position, name, birthdate, row_number() over (partition by name, birthdate order by position) as nth
      from (${stagedRows(sql, grant, id)}) r)
    select name, birthdate, count(*) over ()::int as total, count(*) filter (where nth > 1) over ()::int as repeats
    from staged s
    where nth > 1 or exists (
      select from personas p
      where p.tenant_id = ${grant.tenantId} and p.space_id = ${grant.spaceId}
        and p.name = s.name and p.birthdate = s.birthdate)
    order by position limit ${CONFLICTS_SHOWN_MAX}`
  const { total = 0, repeats = 0 } = rows[0] ?? {}
  return { total, repeats, first: rows.map(({ name, birthdate }) => ({ name, birthdate })) }
}

/** A million rows take longer than what anything else may take. Whoever waits for them is told soon to come back. */
async function allowLongStatements(sql: Sql): Promise<void> {
  await sql`select set_config('statement_timeout', '10min', true), set_config('lock_timeout', '10s', true)`
}

export async function sweepUploads(system: Sql): Promise<void> {
  await system`delete from persona_uploads where expires_at < now()`
}
