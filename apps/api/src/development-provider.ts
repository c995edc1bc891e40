// Where no tenant has an identity provider and nothing is at stake, a development one stands in (contract 2.4).
//
// In production its modules are not even loaded, whatever the configuration says or leaves out.
import type { Config } from './config.ts'
import type { DevelopmentIssuer } from './development/settings.ts'

export interface StandIn {
  readonly provider: DevelopmentIssuer
  /** The configuration, with tenants that sign in at the development provider. */
  readonly config: Config
  warmUp(): Promise<void>
  close(): Promise<void>
}

export async function developmentProviderFor(config: Config): Promise<StandIn | undefined> {
  if (config.production || config.tenants.some(({ oidc }) => oidc)) return undefined
  const { startDevelopmentProvider } = await import('./development/start.ts')
  const started = await startDevelopmentProvider(config)
  return { ...started, config: await withDevelopmentProvider(config, started.provider) }
}

/** For a process whose parent runs the provider. */
export async function withDevelopmentProvider(config: Config, provider: DevelopmentIssuer): Promise<Config> {
  const { settingsFor } = await import('./development/settings.ts')
  const tenants = config.tenants.map((tenant) => ({
    ...tenant,
    oidc: settingsFor(provider, config.baseUrl, tenant.tenantId),
  }))
  return Object.freeze({ ...config, tenants })
}
