// Writes down when API keys were used.
import type { Sql } from '../storage/sql.ts'

export interface KeyUse {
  readonly tenantId: string
  readonly keyId: string
  readonly at: Date
}

export async function saveUses(system: Sql, uses: readonly KeyUse[]): Promise<void> {
  const tenants = uses.map(({ tenantId }) => tenantId)
  const keys = uses.map(({ keyId }) => keyId)
  const times = uses.map(({ at }) => at.toISOString())
  await system`
    update api_keys k set last_used_at = greatest(k.last_used_at, used.at)
    from unnest(${tenants}::text[], ${keys}::uuid[], ${times}::timestamptz[]) as used (tenant_id, id, at)
    where k.tenant_id = used.tenant_id and k.id = used.id`
}
