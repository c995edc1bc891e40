// Seals a connector's keys, and opens them again for whoever reads its files under a grant.
import type { SpaceGrant } from '../../base/grant.ts'
import { Secret } from '../../base/secret.ts'
import type { Vault } from '../../base/vault.ts'
import type { Bucket } from '../../outside/object-store/bucket.ts'
import type { Database } from '../../storage/database.ts'
import { type ConnectorRow, connectorTable } from './connectors-store.ts'

interface Keys {
  readonly access_key_id: string
  readonly secret_access_key: string
}

const placeOf = (grant: SpaceGrant, id: string) => ({
  tenantId: grant.tenantId,
  table: 'connectors',
  id,
  column: 'sealed_keys',
})

export function sealKeys(vault: Vault, grant: SpaceGrant, id: string, keys: Keys): string {
  const { access_key_id, secret_access_key } = keys
  return vault.seal(JSON.stringify({ access_key_id, secret_access_key }), placeOf(grant, id))
}

/** Below a folder; a prefix that does not end in a slash is taken as if it did. */
export const asFolder = (prefix: string): string => (prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`)

export async function connectorBucket(
  { db, vault }: { db: Database; vault: Vault },
  grant: SpaceGrant,
  id: string,
): Promise<Bucket> {
  return bucketOf(vault, grant, await connectorTable.get(db, grant, id))
}

export function bucketOf(vault: Vault, grant: SpaceGrant, row: ConnectorRow): Bucket {
  const keys: Keys = JSON.parse(vault.open(row.sealed_keys, placeOf(grant, row.id)))
  return {
    name: row.bucket,
    prefix: row.prefix,
    region: row.region,
    accessKeyId: new Secret(keys.access_key_id),
    secretAccessKey: new Secret(keys.secret_access_key),
  }
}
