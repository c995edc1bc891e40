// The rows of connectors, and the steps their status takes (contract 3.5).
import type { SpaceGrant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import { spaceTable } from '../../storage/space-table.ts'
import type { Sql } from '../../storage/sql.ts'
import type { Connector } from './shapes.ts'

export interface ConnectorRow extends Connector {
  bucket: string
  prefix: string
  sealed_keys: string
}

export const connectorTable = spaceTable<ConnectorRow>('connectors', 'connector', {
  secrets: ['sealed_keys'],
  conflicts: {
    benchmark_connectors_connector_fk: 'A benchmark uses this connector',
    training_connectors_connector_fk: 'A training uses this connector',
  },
})

const one = (sql: Sql, grant: SpaceGrant, id: string) =>
  sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${id}`

/** Tells how the step under way ended. Nothing happens if the connector has moved on, or is gone. */
export async function settleConnector(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  from: 'pending' | 'scanning',
  error: string | undefined,
): Promise<void> {
  await sql`
    update connectors set status = ${error === undefined ? 'active' : 'error'}, error = ${error ?? null}
    where ${one(sql, grant, id)} and status = ${from}`
}

/** One scan at a time; it may begin whatever came of the step before it. */
export async function beginScanning(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  const begun = await sql`
    update connectors set status = 'scanning', error = null where ${one(sql, grant, id)} and status <> 'scanning'`
  if (begun.count > 0) return
  await connectorTable.getIn(sql, grant, id)
  throw new Problem('conflict', 'A scan of this connector is under way')
}

/** Fails unless the space has all of these connectors. */
export async function assertConnectors(
  sql: Sql,
  grant: SpaceGrant,
  ids: readonly string[],
  param: string,
): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select id from connectors
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id::text = any(${ids as string[]})`
  const known = new Set(rows.map(({ id }) => id))
  const missing = ids.find((id) => !known.has(id))
  if (missing !== undefined) throw new Problem('invalid_reference', `There is no connector ${missing}`, { param })
}
