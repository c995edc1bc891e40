// The rows of connector scans (contract 2.28).
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import type { Cursor } from '../../contract/shapes.ts'
import { cut, olderThan } from '../../storage/paging.ts'
import type { Sql } from '../../storage/sql.ts'
import type { ConnectorScan, ScannedFile } from './shapes.ts'

export interface ScanRow extends ConnectorScan {
  wanted: string[]
}

const of = (sql: Sql, grant: SpaceGrant, connectorId: string) =>
  sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and connector_id = ${connectorId}`

export async function listScans(sql: Sql, grant: SpaceGrant, connectorId: string, { limit, after }: Cursor) {
  const mine = of(sql, grant, connectorId)
  const older = olderThan(sql, 'id', after)
  const [rows, [total]] = await Promise.all([
    sql<ConnectorScan[]>`
      select * from connector_scans where ${mine} and ${older} order by id desc limit ${limit + 1}`,
    sql<{ count: number }[]>`select count(*)::int as count from connector_scans where ${mine}`,
  ])
  return cut([...rows], limit, total!.count)
}

export async function insertScan(sql: Sql, grant: SpaceGrant, connectorId: string, files: string[]): Promise<string> {
  const id = newId()
  await sql`
    insert into connector_scans (tenant_id, space_id, connector_id, id, status, wanted, created_by)
    values (${grant.tenantId}, ${grant.spaceId}, ${connectorId}, ${id}, 'queued', ${files}, ${grant.userId})`
  return id
}

/** Takes the scan up, for the first time or again; gone or ended scans are not found. */
export async function findOpenScan(
  sql: Sql,
  grant: SpaceGrant,
  connectorId: string,
  id: string,
): Promise<ScanRow | undefined> {
  const [scan] = await sql<ScanRow[]>`
    update connector_scans set status = 'running'
    where ${of(sql, grant, connectorId)} and id = ${id} and status in ('queued', 'running') returning *`
  return scan
}

/** What is kept here need not be read again when the scan is interrupted. False when the scan is gone or has ended. */
export async function keepScanned(
  sql: Sql,
  grant: SpaceGrant,
  connectorId: string,
  id: string,
  files: readonly ScannedFile[],
): Promise<boolean> {
  const kept = await sql`
    update connector_scans set files = ${sql.json(files as never)}
    where ${of(sql, grant, connectorId)} and id = ${id} and status = 'running'`
  return kept.count > 0
}

export async function finishScan(
  sql: Sql,
  grant: SpaceGrant,
  connectorId: string,
  id: string,
  error: string | undefined,
): Promise<void> {
  await sql`
    update connector_scans
    set status = ${error === undefined ? 'succeeded' : 'failed'}, error = ${error ?? null}, finished_at = now()
    where ${of(sql, grant, connectorId)} and id = ${id} and status in ('queued', 'running')`
}
