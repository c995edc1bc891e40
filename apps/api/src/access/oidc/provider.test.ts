// Which providers are trusted at all (contract 5.1); the whole exchange is tested against real ones elsewhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../base/secret.ts'
import { Provider } from './provider.ts'

const secrets = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) }

const providerAt = (issuer: string, configuration: object) =>
  new Provider(
    {
      issuer,
      clientId: 'amphi',
      clientSecret: new Secret('x'),
      redirectUrl: 'https://amphi.example/v1/auth/oidc/callback',
      scopes: 'openid',
      groupsClaim: 'memberOf',
      idTokenAlg: 'RS256',
    },
    async () => Response.json(configuration),
  )

test('an issuer that many organisations share is refused', async () => {
  const shared = providerAt('https://login.microsoftonline.com/common/v2.0', {
    issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
    authorization_endpoint: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
  })
  await assert.rejects(shared.authorizationUrl(secrets), /names the issuer .*tenantid/)
})

test('an issuer that differs by a slash after its host is the same', async () => {
  const authorization_endpoint = 'https://login.example/authorize'
  const provider = providerAt('https://login.example', { issuer: 'https://login.example/', authorization_endpoint })
  assert.match(await provider.authorizationUrl(secrets), /^https:\/\/login\.example\/authorize\?/)
})

test('a provider that names no address to sign in at is refused', async () => {
  const provider = providerAt('https://login.example', { issuer: 'https://login.example' })
  await assert.rejects(provider.authorizationUrl(secrets), /no address to sign in at/)
})
