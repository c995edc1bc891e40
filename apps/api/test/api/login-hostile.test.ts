// A provider that lies, stalls or breaks (contract 5.1): each attempt is refused with a reason, in the answer and in the log.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { pino } from 'pino'
import { type HostileProvider, json, startHostileProvider } from '../support/hostile-provider.ts'
import { BASE_URL } from '../support/identity-provider.ts'
import { type Reply, type Service, startService, toReply } from '../support/service.ts'

const HUGE_BYTES = 2 * 1_048_576

let folder: string
let provider: HostileProvider
let service: Service
let logged: Record<string, unknown>[] = []

before(async () => {
  provider = await startHostileProvider()
  folder = await mkdtemp(join(tmpdir(), 'amphi-hostile-'))
  const file = join(folder, 'tenants.json')
  const elsewhere = { location: 'http://127.0.0.1/.well-known/openid-configuration' }
  const tenants = [
    provider.record('main'),
    provider.record('hangs', () => {}),
    provider.record('redirects', (response) => void response.writeHead(302, elsewhere).end()),
    provider.record('is-huge', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"filler":"${'x'.repeat(HUGE_BYTES)}"}`)
    }),
    provider.record('is-html', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')),
    provider.record('is-broken', json({ oops: true }, 500)),
    provider.record('is-another', json({ issuer: 'https://elsewhere.example' })),
    provider.record('is-nonsense', json([1, 2])),
    provider.record('points-inside', (response) => {
      const pointing = {
        ...provider.describe('points-inside'),
        token_endpoint: 'http://169.254.169.254/latest/meta-data',
      }
      json(pointing)(response)
    }),
  ]
  await writeFile(file, JSON.stringify(tenants))
  const log = pino({ level: 'warn', base: null }, { write: (line) => void logged.push(JSON.parse(line)) })
  service = await startService({ env: { TENANTS_FILE: file, BASE_URL }, log })
})
beforeEach(() => {
  provider.reset()
  logged = []
})
after(async () => {
  await service.close()
  await provider.close()
  await rm(folder, { recursive: true })
})

const begin = async (tenantId: string): Promise<Reply> =>
  toReply(await service.app.inject({ method: 'POST', url: '/v1/auth/oidc/login', payload: { tenant_id: tenantId } }))

/** Begins a login and comes back from the provider with a code. */
async function attempt(query: Record<string, string> = { code: 'any' }, tenantId = 'main'): Promise<Reply> {
  const { body } = await begin(tenantId)
  const asked = new URL(body.auth_url).searchParams
  provider.nonce = asked.get('nonce')!
  const returned = new URLSearchParams({ state: asked.get('state')!, ...query })
  return toReply(await service.app.inject({ url: `/v1/auth/oidc/callback?${returned}` }))
}

function assertRefused(
  { status, body, text, headers }: Reply,
  wanted: { status: number; code: string; reason: string },
) {
  assert.equal(status, wanted.status, text)
  assert.equal(body.error.code, wanted.code)
  assert.equal(headers.location, undefined)
  assert.doesNotMatch(text, /access_token|eyJ/)
  assert.ok(body.error.message.length > 20, 'the message says what is wrong')
  const line = logged.find(({ msg }) => msg === 'login failed')
  assert.deepEqual([line?.['reason'], line?.['tenant']], [wanted.reason, 'main'], JSON.stringify(logged))
  assert.doesNotMatch(JSON.stringify(logged), /eyJ|hostile providers know/)
}

test('an honest answer of this provider is accepted, so that each refusal below is for its own reason', async () => {
  const { status, headers } = await attempt()
  assert.equal(status, 303)
  assert.match(String(headers.location), /#access_token=eyJ/)
  assert.deepEqual(provider.tokenRequests.at(-1)?.get('code_verifier')?.length, 43)
})

describe('forged ID tokens', () => {
  const now = Math.floor(Date.now() / 1000)
  const claims: Record<string, [JWTPayload, string]> = {
    'another issuer': [{ iss: 'https://elsewhere.example' }, 'wrong_issuer'],
    'another audience': [{ aud: 'somebody-else' }, 'wrong_audience'],
    'a second audience that is not ours to judge': [{ aud: ['amphi', 'somebody-else'] }, 'wrong_audience'],
    'another nonce': [{ nonce: 'of-another-login' }, 'wrong_nonce'],
    'no nonce': [{ nonce: undefined }, 'invalid_answer'],
    'an expiry in the past': [{ exp: now - 120 }, 'token_expired'],
    'a time of issue in the future': [{ iat: now + 3600, exp: now + 7200 }, 'token_from_the_future'],
    'no subject': [{ sub: undefined as never }, 'invalid_answer'],
    'a subject that cannot be stored': [{ sub: 'a\0b' }, 'malformed_subject'],
    'an overage marker of the distributed kind': [
      { memberOf: undefined, _claim_names: { groups: 'src1' } },
      'group_overage',
    ],
    'an overage marker of the short kind': [{ memberOf: undefined, hasgroups: true }, 'group_overage'],
    'more groups than are read': [{ memberOf: Array.from({ length: 1001 }, (_, n) => `g${n}`) }, 'too_many_groups'],
    'groups that are no names': [{ memberOf: [{ id: 1 }] }, 'malformed_groups'],
  }
  for (const [what, [forged, reason]] of Object.entries(claims)) {
    test(`${what} is refused`, async () => {
      provider.claims = forged
      assertRefused(await attempt(), { status: 400, code: 'login_failed', reason })
    })
  }

  test('a key that the provider does not publish is refused', async () => {
    provider.sign = provider.signWith(await generateKeyPair('RS256'), 'unheard-of')
    assertRefused(await attempt(), { status: 400, code: 'login_failed', reason: 'unknown_key' })
  })

  test('another key under the name of the published one is refused', async () => {
    provider.sign = provider.signWith(await generateKeyPair('RS256'))
    assertRefused(await attempt(), { status: 400, code: 'login_failed', reason: 'wrong_signature' })
  })

  test('a token without a signature is refused', async () => {
    provider.sign = async (honest) => new UnsecuredJWT(honest).encode()
    assertRefused(await attempt(), { status: 400, code: 'login_failed', reason: 'wrong_algorithm' })
  })

  test('a token signed with the public key as if it were a secret is refused', async () => {
    const secret = new TextEncoder().encode(await provider.publicPem())
    provider.sign = (honest) => new SignJWT(honest).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret)
    assertRefused(await attempt(), { status: 400, code: 'login_failed', reason: 'wrong_algorithm' })
  })

  test('userinfo about somebody else is refused', async () => {
    provider.claims = { memberOf: undefined }
    provider.plays.userinfo = json({ sub: 'admin', memberOf: ['admins'] })
    assertRefused(await attempt(), { status: 400, code: 'login_failed', reason: 'invalid_answer' })
  })

  test('a userinfo endpoint that refuses its own token fails the login instead of taking the seats away', async () => {
    provider.claims = { memberOf: undefined }
    provider.plays.userinfo = (response) => void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    assertRefused(await attempt(), { status: 400, code: 'login_failed', reason: 'userinfo_refused' })
  })

  test('a key that was rotated in since discovery is accepted, and the old one is refused from then on', async () => {
    const withOldKey = provider.sign
    assert.equal((await attempt()).status, 303)
    await provider.rotateKey()
    assert.equal((await attempt()).status, 303)
    provider.sign = withOldKey
    assertRefused(await attempt(), { status: 400, code: 'login_failed', reason: 'unknown_key' })
  })
})

describe('broken answers', () => {
  const answers: Record<string, [HostileProvider['plays'], number, string]> = {
    'a code that was used before': [{ token: json({ error: 'invalid_grant' }, 400) }, 400, 'code_refused'],
    'a client that the provider refuses': [{ token: json({ error: 'invalid_client' }, 401) }, 400, 'client_refused'],
    'no ID token': [{ token: json({ access_token: 'x', token_type: 'Bearer' }) }, 400, 'invalid_answer'],
    'a token endpoint that fails': [{ token: json({}, 500) }, 503, 'provider_unavailable'],
    'a token endpoint that redirects': [
      { token: (response) => void response.writeHead(307, { location: 'http://127.0.0.1/' }).end() },
      503,
      'provider_unavailable',
    ],
    'a token endpoint that hangs up': [{ token: (response) => void response.destroy() }, 503, 'provider_unavailable'],
    'keys that cannot be fetched': [{ jwks: json({}, 503) }, 503, 'provider_unavailable'],
    'keys that are none': [
      { jwks: (response) => json({ keys: [{ kty: 'RSA', kid: provider.keyId, n: '!', e: '!' }] })(response) },
      400,
      'invalid_answer',
    ],
  }
  for (const [what, [plays, status, reason]] of Object.entries(answers)) {
    test(`${what}: refused with ${status}`, async () => {
      provider.plays = plays
      const code = status === 503 ? 'identity_provider_unavailable' : 'login_failed'
      assertRefused(await attempt(), { status, code, reason })
    })
  }

  test('a token endpoint inside the network of the service is not called', async () => {
    const { status, body } = await attempt({ code: 'any' }, 'points-inside')
    assert.deepEqual([status, body.error.code], [503, 'identity_provider_unavailable'])
    assert.match(body.error.message, /may not call 169\.254\.169\.254/)
  })

  test('an error that the provider sends back is told in its words', async () => {
    const reply = await attempt({ error: 'access_denied', error_description: 'You may not <b>enter</b>' })
    assertRefused(reply, { status: 400, code: 'login_failed', reason: 'provider_said_no' })
    assert.match(reply.body.error.message, /access_denied: You may not/)
  })

  test('a failed login is in the audit log with its reason', async () => {
    provider.claims = { nonce: 'x' }
    await attempt()
    const [row] = await service.process.system`
      select outcome, after from audit where tenant_id = 'main' and action = 'auth.login' order by id desc limit 1`
    assert.deepEqual([row?.['outcome'], row?.['after']], ['failed', { reason: 'wrong_nonce' }])
  })
})

describe('discovery', () => {
  const faults: Record<string, RegExp> = {
    hangs: /did not answer .* within 5 seconds/,
    redirects: /with a redirect \(302\)/,
    'is-huge': /more than 1048576 bytes/,
    'is-html': /unexpected response content-type/,
    'is-broken': /unexpected HTTP response status code \(status 500\)/,
    'is-another': /issuer does not match/,
    'is-nonsense': /cannot be used/,
  }
  for (const [tenantId, message] of Object.entries(faults)) {
    test(`a configuration that ${tenantId} fails the login with 503 and says why`, async () => {
      const { status, body } = await begin(tenantId)
      assert.equal(status, 503, JSON.stringify(body))
      assert.equal(body.error.code, 'identity_provider_unavailable')
      assert.match(body.error.message, message)
      assert.ok(logged.some(({ msg, tenant }) => msg === 'login failed' && tenant === tenantId))
    })
  }

  test('a provider that failed a moment ago is not asked again at once', async () => {
    await begin('is-broken')
    const asked = provider.discoveryRequests.length
    assert.equal((await begin('is-broken')).status, 503)
    assert.equal(provider.discoveryRequests.length, asked)
  })
})
