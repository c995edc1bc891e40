// How a tenant signs in at the development identity provider.
import type { ProviderSettings } from '../access/oidc/provider.ts'
import { Secret } from '../base/secret.ts'

/** All that another process has to know to send people there. */
export interface DevelopmentIssuer {
  readonly issuer: string
  readonly secret: string
}

export const ID_TOKEN_ALG = 'ES256'

export const clientIdOf = (tenantId: string): string => `amphi-${tenantId}`

export const redirectUrlOf = (baseUrl: string): string => `${baseUrl}/v1/auth/oidc/callback`

export const settingsFor = (
  { issuer, secret }: DevelopmentIssuer,
  baseUrl: string,
  tenantId: string,
): ProviderSettings => ({
  issuer,
  clientId: clientIdOf(tenantId),
  clientSecret: new Secret(secret),
  redirectUrl: redirectUrlOf(baseUrl),
  scopes: 'openid profile email',
  groupsClaim: 'memberOf',
  idTokenAlg: ID_TOKEN_ALG,
})
