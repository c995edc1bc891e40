// First start (contract 5.6): each configured tenant gets a space and a seat that may do everything in it.
import type { Client } from '../storage/sql.ts'
import { type Founding, foundTenant } from './tenants-store.ts'

/** Safe to run on every start and on several replicas at once: only the first one to know a tenant founds it. */
export async function foundTenants(system: Client, tenants: readonly Founding[]): Promise<void> {
  for (const tenant of tenants) await system.begin((sql) => foundTenant(sql, tenant))
}
