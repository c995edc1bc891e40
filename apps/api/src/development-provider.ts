// Where no tenant has an identity provider and nothing is at stake, a development one stands in (contract 2.4).
import type { Config } from './config.ts'

export interface StandIn {
  readonly issuer: string
  /** The configuration, with tenants that sign in at the development provider. */
  readonly config: Config
  warmUp(): Promise<void>
  close(): Promise<void>
}

/** In production the module is not even loaded, whatever the configuration says or leaves out. */
export async function developmentProviderFor(config: Config): Promise<StandIn | undefined> {
  if (config.production || config.tenants.some(({ oidc }) => oidc)) return undefined
  const { startDevelopmentProvider } = await import('./development/start.ts')
  const { settingsFor, ...provider } = await startDevelopmentProvider(config)
  const tenants = config.tenants.map((tenant) => ({ ...tenant, oidc: settingsFor(tenant.tenantId) }))
  return { ...provider, config: Object.freeze({ ...config, tenants }) }
}
