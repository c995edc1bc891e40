// Where no tenant has an identity provider and nothing is at stake, a development one stands in (contract 2.4).
//
// In production its modules are not even loaded, whatever the configuration says or leaves out.
import type { Config } from './config.ts'
import type { DevelopmentClient } from './development/settings.ts'

export interface StandIn {
  readonly client: DevelopmentClient
  /** The configuration, with tenants that sign in at the development provider. */
  readonly config: Config
  warmUp(): Promise<void>
  close(): Promise<void>
}

export async function developmentProviderFor(config: Config): Promise<StandIn | undefined> {
  if (config.production || config.tenants.some(({ oidc }) => oidc)) return undefined
  const { startDevelopmentProvider } = await import('./development/start.ts')
  const provider = await startDevelopmentProvider(config)
  return { ...provider, config: await withDevelopmentProvider(config, provider.client) }
}

/** For a process whose parent runs the provider. */
export async function withDevelopmentProvider(config: Config, client: DevelopmentClient): Promise<Config> {
  const { settingsFor } = await import('./development/settings.ts')
  const tenants = config.tenants.map((tenant) => ({
    ...tenant,
    oidc: settingsFor(client, config.baseUrl, tenant.tenantId),
  }))
  return Object.freeze({ ...config, tenants })
}
