// The whole login against the certified provider (contract 4.3, 5.1, 5.3), for two tenants at once.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { decodeJwt } from 'jose'
import { signInByName } from '../../src/development/sign-in-by-name.ts'
import {
  BASE_URL,
  fetchInto,
  person,
  REDIRECT_URL,
  signInThrough,
  startProvider,
  type TestProvider,
} from '../support/identity-provider.ts'
import { type Reply, type Service, startService, toReply } from '../support/service.ts'

let folder: string
let acmeProvider: TestProvider
let bolt: TestProvider
let service: Service

before(async () => {
  acmeProvider = await startProvider([person('ana', 'admins'), person('bob', 'analysts', 'viewers'), person('carol')])
  bolt = await startProvider([person('ana', 'admins')], { bareIdTokens: true })
  const gone = await startProvider([])
  await gone.close()
  folder = await mkdtemp(join(tmpdir(), 'amphi-login-'))
  const file = join(folder, 'tenants.json')
  const tenants = [
    acmeProvider.record('acme', { frontend_url: 'https://acme.example/app?from=amphi' }),
    bolt.record('bolt'),
    gone.record('gone'),
    { tenant_id: 'closed', name: 'Closed' },
  ]
  await writeFile(file, JSON.stringify(tenants))
  service = await startService({ env: { TENANTS_FILE: file, BASE_URL } })
})
after(async () => {
  await service.close()
  await Promise.all([acmeProvider.close(), bolt.close()])
  await rm(folder, { recursive: true })
})

const call = async (token: string, method: 'GET' | 'POST', url: string, body?: object): Promise<Reply> => {
  const headers = { authorization: `Bearer ${token}` }
  return toReply(await service.app.inject({ method, url, headers, ...(body && { payload: body }) }))
}
const begin = async (tenantId: string, headers: Record<string, string> = {}) =>
  toReply(
    await service.app.inject({ method: 'POST', url: '/v1/auth/oidc/login', payload: { tenant_id: tenantId }, headers }),
  )
const signIn = async (tenantId: string, user: string): Promise<string> => {
  const fragment = await signInThrough(service.app, tenantId, user)
  assert.equal(fragment.get('error'), null, fragment.toString())
  return fragment.get('access_token')!
}

describe('signing in', () => {
  test('the login answers with an address at the provider that carries all the protections', async () => {
    const { status, body, headers } = await begin('acme')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body), ['auth_url'])
    const url = new URL(body.auth_url)
    assert.equal(url.origin, acmeProvider.issuer)
    const query = Object.fromEntries(url.searchParams)
    assert.equal(query['response_type'], 'code')
    assert.equal(query['redirect_uri'], REDIRECT_URL)
    assert.equal(query['scope'], 'openid profile email')
    assert.equal(query['code_challenge_method'], 'S256')
    for (const name of ['state', 'nonce', 'code_challenge']) assert.equal(query[name]?.length, 43, name)
    assert.match(
      String(headers['set-cookie']),
      /^amphi-login-[0-9a-f]{16}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    )
    assert.equal(headers['cache-control'], 'no-store')
  })

  test('a group of the provider becomes the seat of the same name in each of its spaces', async () => {
    const token = await signIn('acme', 'ana')
    const claims = decodeJwt(token)
    assert.deepEqual(claims['hash_perm'], [`${await service.firstSpace('acme')}:admins`])
    assert.deepEqual(
      [claims.sub, claims['email'], claims['name'], claims['tid']],
      ['ana', 'ana@example.org', 'Ana Example', 'acme'],
    )
    assert.equal((await call(token, 'GET', '/v1/seats')).status, 200)
  })

  test('somebody in no group signs in and holds nothing', async () => {
    const token = await signIn('acme', 'carol')
    assert.deepEqual(decodeJwt(token)['hash_perm'], [])
    assert.equal((await call(token, 'GET', '/v1/users/me')).status, 200)
    assert.equal((await call(token, 'GET', '/v1/seats')).status, 403)
  })

  test('groups, names and address are found at the userinfo endpoint when the ID token has none', async () => {
    const token = await signIn('bolt', 'ana')
    assert.deepEqual(decodeJwt(token)['hash_perm'], [`${await service.firstSpace('bolt')}:admins`])
    const { body } = await call(token, 'GET', '/v1/users/me')
    assert.deepEqual([body.email, body.first_name, body.last_name], ['ana@example.org', 'Ana', 'Example'])
  })

  test('the same subject at two providers is two people, and neither token opens the other tenant', async () => {
    const [atAcme, atBolt] = [await signIn('acme', 'ana'), await signIn('bolt', 'ana')]
    const [acmeSpace, boltSpace] = [await service.firstSpace('acme'), await service.firstSpace('bolt')]
    assert.equal((await call(atAcme, 'GET', `/v1/spaces/${acmeSpace}/data-models`)).status, 200)
    assert.equal((await call(atAcme, 'GET', `/v1/spaces/${boltSpace}/data-models`)).status, 403)
    assert.equal((await call(atBolt, 'GET', `/v1/spaces/${boltSpace}/data-models`)).status, 200)
    assert.equal((await call(atBolt, 'GET', `/v1/spaces/${acmeSpace}/data-models`)).status, 403)
    assert.deepEqual(
      (await call(atBolt, 'GET', '/v1/spaces')).body.data.map((space: { id: string }) => space.id),
      [boltSpace],
    )
  })

  test('a broken provider fails its own tenant with 503 and the reason, and no other', async () => {
    const { status, body, headers } = await begin('gone')
    assert.equal(status, 503)
    assert.equal(body.error.code, 'identity_provider_unavailable')
    assert.match(body.error.message, /cannot be reached at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
    assert.ok(headers['retry-after'])
    assert.equal((await begin('acme')).status, 200)
  })

  test('a tenant without a provider and no tenant at all are the same answer', async () => {
    const answers = [await begin('closed'), await begin('nobody')]
    for (const { status, body } of answers) {
      assert.deepEqual([status, body.error.code, body.error.param], [400, 'invalid_reference', 'tenant_id'])
    }
    assert.equal(answers[0]!.body.error.message, answers[1]!.body.error.message)
  })

  test('a code that was used before is refused, even with a state that is good', async () => {
    const visited: string[] = []
    const follow = fetchInto(service.app)
    const remember = (url: string, init: RequestInit) => {
      visited.push(url)
      return follow(url, init)
    }
    await signInByName({ baseUrl: BASE_URL, tenantId: 'acme', user: 'ana', fetch: remember })
    const used = new URL(visited.find((url) => url.startsWith(REDIRECT_URL))!).searchParams
    const fresh = new URL((await begin('acme')).body.auth_url).searchParams
    used.set('state', fresh.get('state')!)
    const { status, body } = toReply(await service.app.inject({ url: `/v1/auth/oidc/callback?${used}` }))
    assert.deepEqual([status, body.error.code], [400, 'login_failed'])
    assert.match(body.error.message, /refused the code/)
  })

  test('a login is in the audit log, with the groups it brought', async () => {
    const token = await signIn('acme', 'ana')
    const [latest] = (await call(token, 'GET', '/v1/audit?limit=1')).body.data
    assert.deepEqual(
      [latest.action, latest.actor, latest.outcome, latest.after],
      ['auth.login', 'ana', 'done', { groups: ['admins'] }],
    )
  })
})

describe('people and groups', () => {
  test('a change of group at the provider shows after the next login, and members are counted anew', async () => {
    const admin = await signIn('acme', 'ana')
    const space = await service.firstSpace('acme')
    const seat = { name: 'viewers', spaces: [space], permissions: ['data-models:list'] }
    assert.equal((await call(admin, 'POST', '/v1/seats', seat)).status, 200)
    const count = async () => {
      const { data } = (await call(admin, 'GET', '/v1/seats')).body
      return data.find(({ name }: { name: string }) => name === 'viewers').member_count
    }
    assert.deepEqual(decodeJwt(await signIn('acme', 'bob'))['hash_perm'], [`${space}:viewers`])
    assert.equal(await count(), 1)
    acmeProvider.users.find(({ id }) => id === 'bob')!.groups = ['analysts']
    assert.deepEqual(decodeJwt(await signIn('acme', 'bob'))['hash_perm'], [])
    assert.equal(await count(), 0)
  })

  test('a seat created after the login counts from the refresh on', async () => {
    const [admin, bob] = [await signIn('acme', 'ana'), await signIn('acme', 'bob')]
    const space = await service.firstSpace('acme')
    const seat = { name: 'analysts', spaces: [space], permissions: ['data-models:list'] }
    assert.equal((await call(admin, 'POST', '/v1/seats', seat)).status, 200)
    const read = (token: string) => call(token, 'GET', `/v1/spaces/${space}/data-models`)
    assert.equal((await read(bob)).status, 403)
    const refreshed = await call(bob, 'POST', '/v1/auth/refresh')
    assert.equal(refreshed.status, 200)
    assert.deepEqual(Object.keys(refreshed.body).sort(), ['access_token', 'expires_in', 'token_type'])
    assert.equal((await read(refreshed.body.access_token)).status, 200)
  })

  test('an invitation to a verified address holds from the refresh on, and to an unverified one never', async () => {
    const [admin, carol] = [await signIn('acme', 'ana'), await signIn('acme', 'carol')]
    const space = await service.firstSpace('acme')
    const invitation = { emails: ['Carol@Example.org'], roles: ['data-models:list'] }
    assert.equal((await call(admin, 'POST', `/v1/spaces/${space}/invitations`, invitation)).status, 200)
    const fresh = (await call(carol, 'POST', '/v1/auth/refresh')).body.access_token
    assert.equal((await call(fresh, 'GET', `/v1/spaces/${space}/data-models`)).status, 200)
    const user = acmeProvider.users.find(({ id }) => id === 'carol')!
    user.emailVerified = false
    assert.deepEqual(decodeJwt(await signIn('acme', 'carol'))['hash_perm'], [])
    user.emailVerified = true
  })

  test('a login that changes nothing is no change of access', async () => {
    await signIn('acme', 'ana')
    const before = service.process.services.replica.snapshot.epoch
    await signIn('acme', 'ana')
    assert.equal(service.process.services.replica.snapshot.epoch, before)
  })
})
