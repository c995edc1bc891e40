// The configuration: every fault is named before anything starts.
import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inspect } from 'node:util'
import { Misconfigured, readConfig } from '../src/config.ts'

/** Of nobody any more: its key was thrown away. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUPIapoFwJp83vrkZmYbc+jNh2PO4wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNTEzNTAyOVoYDzIxMjYxMDIy
MTM1MDI5WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARFuyvM4Gl3EIO+XVJI1q7POElWKaLjgFXD9m7TXam8Lsondce2nVZ4
GkmK+vXxf1rUZ6HOJA5nLNJYznTxLvxxo1MwUTAdBgNVHQ4EFgQU7lzI+BkCiLGs
5f6LThe07ITmoPQwHwYDVR0jBBgwFoAU7lzI+BkCiLGs5f6LThe07ITmoPQwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAorNKU6cDG2IBXjjY/L9J
ukblHiDSiPDR5Mt4qgrlaCwCIDmV18L7uwFlzdtbtYDC+9VHGdSAYl48vsQDOA0l
09jV
-----END CERTIFICATE-----
`

const folder = mkdtempSync('/tmp/amphi-config-')
after(() => rmSync(folder, { recursive: true }))

const aFile = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof Misconfigured)
    return error.faults
  }
  return []
}

test('without any setting the service is ready for a newcomer', () => {
  const config = readConfig({})
  assert.deepEqual(
    [config.host, config.port, config.baseUrl, config.production],
    ['127.0.0.1', 8080, 'http://127.0.0.1:8080', false],
  )
  assert.deepEqual(
    config.tenants.map(({ tenantId, adminSeat }) => [tenantId, adminSeat]),
    [['default', 'admins']],
  )
})

test('the cores are used, but for a model of our own and for background work one process is enough', () => {
  const { processes } = readConfig({})
  assert.ok(processes >= 1 && processes <= 4)
  const model = { INFERENCE_MODEL_FILE: aFile('a.gguf', 'GGUF') }
  for (const env of [{ ROLE: 'worker' }, model]) {
    assert.equal(readConfig(env).processes, 1)
    assert.equal(readConfig({ ...env, PROCESSES: '3' }).processes, 3)
  }
  assert.equal(readConfig({ ...model, INFERENCE_URL: 'http://a' }).processes, processes)
  assert.match(faultsOf({ PROCESSES: '0' })[0]!, /PROCESSES must be a whole number from 1 to 256/)
  assert.equal(readConfig({ PORT: '0' }).processes, 1)
  assert.match(faultsOf({ PORT: '0', PROCESSES: '2' })[0]!, /PROCESSES must be 1 where PORT is 0/)
})

test('all faults are reported at once, each by its name', () => {
  const faults = faultsOf({
    PORT: 'x',
    LOG_LEVEL: 'loud',
    BASE_URL: 'ftp://a',
    RATE_LIMIT_USER_PER_SECOND: '-1',
    TLS_CERT_FILE: 'a',
  })
  for (const name of ['PORT', 'LOG_LEVEL', 'BASE_URL', 'RATE_LIMIT_USER_PER_SECOND', 'TLS_CERT_FILE']) {
    assert.ok(
      faults.some((fault) => fault.includes(name)),
      name,
    )
  }
})

test('an issuer needs its client, secret and an HTTPS redirect, and each missing one is named', () => {
  const faults = faultsOf({ TENANT_OIDC_ISSUER: 'https://id.example.org' })
  for (const name of ['TENANT_OIDC_CLIENT_ID', 'TENANT_OIDC_CLIENT_SECRET', 'TENANT_OIDC_REDIRECT_URL']) {
    assert.ok(
      faults.some((fault) => fault.includes(name)),
      `${name} in ${faults.join('; ')}`,
    )
  }
  const given = {
    TENANT_OIDC_ISSUER: 'https://id.example.org',
    TENANT_OIDC_CLIENT_ID: 'a',
    TENANT_OIDC_CLIENT_SECRET: 'b',
  }
  assert.match(
    faultsOf({ ...given, TENANT_OIDC_REDIRECT_URL: 'http://amphi.example.org/cb' }).join(),
    /TENANT_OIDC_REDIRECT_URL/,
  )
  assert.deepEqual(faultsOf({ ...given, TENANT_OIDC_REDIRECT_URL: 'http://127.0.0.1:8080/cb' }), [])
  assert.match(
    faultsOf({ ...given, TENANT_OIDC_REDIRECT_URL: 'https://a/cb', TENANT_OIDC_SCOPES: 'profile' }).join(),
    /openid/,
  )
})

test('without an issuer the other fields of the provider are ignored', () => {
  assert.equal(readConfig({ TENANT_OIDC_CLIENT_ID: 'a' }).tenants[0]!.oidc, undefined)
})

test('many tenants come from a file, and its faults name tenant and field', () => {
  const file = aFile(
    'tenants.json',
    JSON.stringify([
      { tenant_id: 'a' },
      { tenant_id: 'a', oidc_issuer: 'https://x' },
      { name: 'no id', colour: 'red' },
    ]),
  )
  const faults = faultsOf({ TENANTS_FILE: file }).join('\n')
  assert.match(faults, /tenant_id a is given twice/)
  assert.match(faults, /oidc_client_secret of tenant a/)
  assert.match(faults, /colour of tenant number 3/)
})

test('production needs a secrets key and an HTTPS address', () => {
  const faults = faultsOf({ NODE_ENV: 'production' })
  assert.ok(faults.some((fault) => fault.includes('SECRETS_KEY')))
  assert.ok(faults.some((fault) => fault.includes('BASE_URL')))
})

test('a secret never prints itself', () => {
  const { secretsKey } = readConfig({ SECRETS_KEY: 'x'.repeat(40) })
  for (const text of [inspect(secretsKey), JSON.stringify({ secretsKey }), String(secretsKey)])
    assert.doesNotMatch(text, /xx/)
})

test('ranges to open are taken with commas or spaces between them, and one that is none is named', () => {
  assert.deepEqual(readConfig({ EGRESS_ALLOW: '10.0.0.0/8, fd00::/8' }).egressAllow, ['10.0.0.0/8', 'fd00::/8'])
  assert.match(faultsOf({ EGRESS_ALLOW: '10.0.0.0/8,10.1.2.3' }).join(), /EGRESS_ALLOW .* not "10\.1\.2\.3"/)
})

test('an address of a database or a mail server has their scheme, and the password in a faulty one is not repeated', () => {
  for (const url of [
    'foo',
    'mysql://ana:hush@a/b',
    'postgres:ana:hush',
    'postgres://ana:hu/sh@a/b',
    'postgres://a:hush',
    'postgres://ana:hush%@a',
  ]) {
    const [fault = ''] = faultsOf({ DATABASE_URL: url })
    assert.match(fault, /^DATABASE_URL must be written like postgres:\/\/user:password@host:5432\/name/, url)
    assert.doesNotMatch(fault, /hush|hu\/sh/)
  }
  for (const url of ['ftp://ana:hush@a', 'smtp:', 'smtp://', 'mail.example.org']) {
    const [fault = ''] = faultsOf({ SMTP_URL: url })
    assert.match(fault, /^SMTP_URL must be written like smtps:\/\/user:password@host:465/, url)
    assert.doesNotMatch(fault, /hush/)
  }
})

test('every address that the database driver and the mail library understand is taken', () => {
  const databases = ['postgres://a/b', 'POSTGRESQL://ana:h%2Fush@[::1]:5432/b?sslmode=require', 'postgres:///b']
  const several = [
    'postgres://ana:hush@a:1,b:2/c',
    'postgres://a,b/c',
    'postgres://ana@%2Ftmp%2Frun%2F%2C:5432/postgres',
  ]
  for (const url of [...databases, ...several]) assert.deepEqual(faultsOf({ DATABASE_URL: url }), [], url)
  for (const url of ['smtp://a', 'smtps://ana:hush@a:465?pool=true']) assert.deepEqual(faultsOf({ SMTP_URL: url }), [])
})

test('a file that is named is there, is no folder and may be read, or else it is a fault', (t) => {
  for (const name of ['TLS_CERT_FILE', 'TLS_KEY_FILE', 'INFERENCE_MODEL_FILE', 'TENANTS_FILE']) {
    const faults = faultsOf({ [name]: '/nowhere/a' }).join('\n')
    assert.match(faults, new RegExp(`^${name} /nowhere/a cannot be read: .*no such file`, 'm'))
    assert.match(
      faultsOf({ [name]: folder }).join('\n'),
      new RegExp(`^${name} ${folder} cannot be read: .*director`, 'm'),
    )
  }
  if (process.getuid!() === 0) return t.diagnostic('root may read every file')
  const closed = aFile('closed.gguf', '')
  chmodSync(closed, 0)
  assert.match(faultsOf({ INFERENCE_MODEL_FILE: closed })[0]!, /cannot be read: permission denied/)
})

test('a certificate and a key that cannot serve HTTPS together are a fault', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyOfAnother = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  for (const key of ['no key at all', keyOfAnother]) {
    const files = { TLS_CERT_FILE: aFile('cert.pem', CERTIFICATE), TLS_KEY_FILE: aFile('key.pem', key) }
    const faults = faultsOf(files)
    assert.match(faults.join('\n'), /^TLS_CERT_FILE and TLS_KEY_FILE cannot serve HTTPS: .+$/)
  }
})
