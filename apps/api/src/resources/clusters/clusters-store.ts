// The row of a space's cluster; there is at most one.
import type { SpaceGrant } from '../../base/grant.ts'
import { Secret } from '../../base/secret.ts'
import type { Vault } from '../../base/vault.ts'
import { spaceTable } from '../../storage/space-table.ts'
import type { Sql } from '../../storage/sql.ts'
import type { Cluster } from './shapes.ts'

export interface ClusterRow extends Omit<Cluster, 'token'> {
  sealed_token?: string
}

export const clusterTable = spaceTable<ClusterRow>('clusters', 'cluster', {
  secrets: ['sealed_token'],
  conflicts: { clusters_one_per_space: 'This space has a cluster already' },
})

export async function findCluster(sql: Sql, grant: SpaceGrant): Promise<ClusterRow | undefined> {
  const [cluster] = await sql<ClusterRow[]>`
    select * from clusters where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}`
  return cluster
}

const placeOf = (grant: SpaceGrant, id: string) => ({
  tenantId: grant.tenantId,
  table: 'clusters',
  id,
  column: 'sealed_token',
})

export const sealToken = (vault: Vault, grant: SpaceGrant, id: string, token: string): string =>
  vault.seal(token, placeOf(grant, id))

export const openToken = (vault: Vault, grant: SpaceGrant, { id, sealed_token }: ClusterRow): Secret | undefined =>
  sealed_token === undefined ? undefined : new Secret(vault.open(sealed_token, placeOf(grant, id)))
