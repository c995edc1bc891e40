// The configuration: every fault is named before anything starts.
import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Misconfigured, readConfig } from '../src/config.ts'

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
  for (const env of [{ ROLE: 'worker' }, { INFERENCE_MODEL_FILE: 'a.gguf' }]) {
    assert.equal(readConfig(env).processes, 1)
    assert.equal(readConfig({ ...env, PROCESSES: '3' }).processes, 3)
  }
  assert.equal(readConfig({ INFERENCE_MODEL_FILE: 'a.gguf', INFERENCE_URL: 'http://a' }).processes, processes)
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
  const file = `${mkdtempSync('/tmp/amphi-config-')}/tenants.json`
  writeFileSync(
    file,
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
