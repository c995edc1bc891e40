// Puts together what signing in needs, from the configuration.
import type { Logger } from 'pino'
import type { Logins } from './access/logins.ts'
import { providerFetch } from './access/oidc/provider-fetch.ts'
import { SignIn } from './access/oidc/sign-in.ts'
import { LoginStates } from './access/oidc/states.ts'
import type { Vault } from './base/vault.ts'
import type { Config } from './config.ts'
import { RateLimit } from './http/rate-limit.ts'
import { shareRateLimit } from './http/shared-rate-limit.ts'
import type { Egress } from './outside/egress/egress.ts'
import type { Siblings } from './processes/siblings.ts'
import type { Database } from './storage/database.ts'
import type { Client } from './storage/sql.ts'

interface Parts {
  readonly db: Database
  readonly system: Client
  readonly vault: Vault
  readonly logins: Logins
  readonly egress: Egress
  readonly siblings: Siblings
}

export function openSignIn(config: Config, log: Logger, parts: Parts): SignIn {
  const { db, system, vault, logins, egress, siblings } = parts
  // The operator vouches for the issuers; where else their configurations point is judged like any address from outside.
  const issuers = new Set(config.tenants.flatMap(({ oidc }) => (oidc ? [new URL(oidc.issuer).origin] : [])))
  const dispatcherFor = ({ origin }: URL) => (issuers.has(origin) ? undefined : egress.dispatcher)
  const perAddress = new RateLimit('to sign in from your address', config.limits.loginPerMinute / 60, 60)
  shareRateLimit('rate limit of logins', perAddress, siblings)
  return new SignIn(config.tenants, {
    db,
    logins,
    states: new LoginStates(system, vault),
    fetch: providerFetch({ dispatcherFor }),
    homeUrl: `${config.baseUrl}/`,
    limitAddress: (address) => perAddress.take(address),
    onFailure: ({ reason, detail }, tenant, requestId) =>
      log.warn({ tenant, reason, detail, requestId }, 'login failed'),
  })
}
