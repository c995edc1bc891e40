// Tenants and their identity providers (contract 2.4): one from TENANT_* variables, or many from TENANTS_FILE.
import { readFileSync } from 'node:fs'
import { Secret } from '../base/secret.ts'
import { type EnvironmentReader, isHttpUrl } from './environment.ts'

export interface OidcConfig {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Secret
  readonly redirectUrl: string
  readonly scopes: string
  readonly groupsClaim: string
  readonly idTokenAlg: string
}

export interface TenantConfig {
  readonly tenantId: string
  readonly name: string
  readonly frontendUrl: string | undefined
  readonly adminSeat: string
  /** Absent where no issuer is set: nobody signs in to such a tenant. */
  readonly oidc: OidcConfig | undefined
}

const DEFAULTS = { scopes: 'openid profile email', groupsClaim: 'memberOf', adminSeat: 'admins', idTokenAlg: 'RS256' }
/** Signatures that only the provider can make; the ones that share a secret, and none at all, are not among them. */
const ID_TOKEN_ALGS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'Ed25519',
  'EdDSA',
]
const FIELDS = [
  'tenant_id',
  'name',
  'frontend_url',
  'admin_seat',
  'oidc_issuer',
  'oidc_client_id',
  'oidc_client_secret',
  'oidc_redirect_url',
  'oidc_scopes',
  'oidc_groups_claim',
  'oidc_id_token_alg',
] as const
type Record_ = Partial<Record<(typeof FIELDS)[number], string>>

export function readTenants(read: EnvironmentReader, production: boolean): TenantConfig[] {
  if (read.optional('TENANTS_FILE') !== undefined) return readFile(read, production)
  const record: Record_ = { tenant_id: read.text('TENANT_ID', 'default'), name: read.text('TENANT_NAME', 'Default') }
  for (const field of FIELDS) {
    if (field === 'tenant_id' || field === 'name') continue
    const value = read.optional(`TENANT_${field.toUpperCase()}`)
    if (value !== undefined) record[field] = value
  }
  return [toTenant(read, record, (field) => `TENANT_${field.toUpperCase().replace(/^TENANT_/, '')}`, production)]
}

function readFile(read: EnvironmentReader, production: boolean): TenantConfig[] {
  const file = read.file('TENANTS_FILE')
  if (file === undefined) return []
  let list: unknown
  try {
    list = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    read.fault(`TENANTS_FILE ${file} does not hold JSON: ${(error as Error).message}`)
    return []
  }
  if (!Array.isArray(list) || list.length === 0) {
    read.fault(`TENANTS_FILE ${file} must hold a JSON array with at least one tenant`)
    return []
  }
  const seen = new Set<string>()
  return list.map((item: unknown, index) => {
    const record = (typeof item === 'object' && item !== null ? item : {}) as Record_
    const label = typeof record.tenant_id === 'string' && record.tenant_id ? record.tenant_id : `number ${index + 1}`
    for (const [field, value] of Object.entries(record)) {
      if (!FIELDS.includes(field as never)) read.fault(`${field} of tenant ${label} is not a known field`)
      else if (typeof value !== 'string') read.fault(`${field} of tenant ${label} must be a text`)
    }
    if (seen.has(label)) read.fault(`tenant_id ${label} is given twice`)
    seen.add(label)
    return toTenant(read, record, (field) => `${field} of tenant ${label}`, production)
  })
}

function toTenant(
  read: EnvironmentReader,
  record: Record_,
  call: (field: (typeof FIELDS)[number]) => string,
  production: boolean,
): TenantConfig {
  const tenantId = record.tenant_id ?? ''
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(tenantId)) {
    read.fault(`${call('tenant_id')} must be 1 to 100 letters, digits, dots, dashes or underscores`)
  }
  if (record.frontend_url && !isHttpUrl(record.frontend_url))
    read.fault(`${call('frontend_url')} must be an http(s) address`)
  return {
    tenantId,
    name: record.name ?? tenantId,
    frontendUrl: record.frontend_url,
    adminSeat: record.admin_seat ?? DEFAULTS.adminSeat,
    oidc: record.oidc_issuer ? toOidc(read, record, call, production) : undefined,
  }
}

function toOidc(
  read: EnvironmentReader,
  record: Record_,
  call: (field: (typeof FIELDS)[number]) => string,
  production: boolean,
): OidcConfig {
  for (const field of ['oidc_client_id', 'oidc_client_secret', 'oidc_redirect_url'] as const) {
    if (!record[field]) read.fault(`${call(field)} is required when oidc_issuer is set`)
  }
  const issuer = record.oidc_issuer ?? ''
  const redirectUrl = record.oidc_redirect_url ?? ''
  const scopes = record.oidc_scopes ?? DEFAULTS.scopes
  if (!isSecure(issuer, production)) read.fault(`${call('oidc_issuer')} must be an https:// address`)
  if (redirectUrl && !isSecure(redirectUrl, production))
    read.fault(`${call('oidc_redirect_url')} must be an https:// address`)
  if (issuer.includes('/.well-known/')) {
    read.fault(`${call('oidc_issuer')} must be the issuer itself: leave out /.well-known/openid-configuration`)
  }
  if (URL.canParse(redirectUrl) && new URL(redirectUrl).href.replace(/[?#].*/, '') !== redirectUrl) {
    // It is compared character for character, so there is one way to write it.
    const normal = new URL(redirectUrl).href.replace(/[?#].*/, '')
    read.fault(`${call('oidc_redirect_url')} must be written as ${normal}, here and at the provider`)
  }
  const idTokenAlg = record.oidc_id_token_alg ?? DEFAULTS.idTokenAlg
  if (!ID_TOKEN_ALGS.includes(idTokenAlg)) {
    read.fault(`${call('oidc_id_token_alg')} must be one of ${ID_TOKEN_ALGS.join(', ')}, not "${idTokenAlg}"`)
  }
  if (!scopes.split(/\s+/).includes('openid')) read.fault(`${call('oidc_scopes')} must include openid`)
  return {
    issuer,
    clientId: record.oidc_client_id ?? '',
    clientSecret: new Secret(record.oidc_client_secret ?? ''),
    redirectUrl,
    scopes,
    groupsClaim: record.oidc_groups_claim ?? DEFAULTS.groupsClaim,
    idTokenAlg,
  }
}

/** Plain HTTP never leaves the machine, so it is fine on loopback; but not in production. */
function isSecure(url: string, production: boolean): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:') return true
  return !production && protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)
}
