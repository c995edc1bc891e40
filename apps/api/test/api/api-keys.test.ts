// API keys (contract 2.24, 4.2.16, 5.7): machines act for their makers, and never beyond them.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { BASE_URL, person, signInThrough, startProvider, type TestProvider } from '../support/identity-provider.ts'
import { startReplica, type TestReplica } from '../support/replicas.ts'
import { type Reply, type Service, startService, toReply, until } from '../support/service.ts'

let provider: TestProvider
let service: Service
let second: TestReplica
let space: string
let ana: string
let bob: string

before(async () => {
  provider = await startProvider([person('ana', 'admins'), person('bob'), person('carol', 'readers')])
  service = await startService({ env: { ...provider.env('acme'), BASE_URL, RATE_LIMIT_LOGIN_PER_MINUTE: '0' } })
  second = await startReplica(service)
  space = await service.firstSpace()
  ana = await signIn('ana')
  await seat('makers', ['api-keys:create', 'api-keys:list', 'api-keys:delete'])
  await seat('readers', ['data-models:list'])
  await seat('writers', ['data-models:create'])
})
beforeEach(async () => {
  bob = await signInWith('bob', 'makers', 'readers', 'writers')
})
after(async () => {
  await second.close()
  await service.close()
  await provider.close()
})

const signIn = async (user: string) => (await signInThrough(service.app, 'acme', user)).get('access_token')!
const signInWith = (user: string, ...groups: string[]) => {
  provider.users.find(({ id }) => id === user)!.groups = groups
  return signIn(user)
}
const call = async (
  bearer: string,
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  body?: object,
  app = service.app,
): Promise<Reply> => {
  const headers = { authorization: `Bearer ${bearer}` }
  return toReply(await app.inject({ method, url, headers, ...(body && { payload: body }) }))
}
const seat = async (name: string, permissions: string[]) => {
  assert.equal((await call(ana, 'POST', '/v1/seats', { name, spaces: [space], permissions })).status, 200)
}
const aKey = async (bearer: string, values: object = {}) => {
  const { status, body } = await call(bearer, 'POST', '/v1/api-keys', { name: 'a key', ...values })
  assert.equal(status, 200, JSON.stringify(body))
  return body as { id: string; key: string; seats: string[]; prefix: string; expires_at?: string }
}
const read = async (bearer: string, app = service.app) =>
  (await call(bearer, 'GET', `/v1/spaces/${space}/data-models`, undefined, app)).status
const write = async (bearer: string) =>
  (await call(bearer, 'POST', `/v1/spaces/${space}/data-models`, { name: 'made by a machine' })).status

describe('create', () => {
  test('a repeat by a key of fewer seats does not get the key that was made with more', async () => {
    const lesser = await aKey(bob, { seats: ['makers'] })
    const make = (bearer: string) =>
      service.app.inject({
        method: 'POST',
        url: '/v1/api-keys',
        payload: { name: 'ci' },
        headers: { authorization: `Bearer ${bearer}`, 'idempotency-key': 'the-same' },
      })
    assert.equal((await make(bob)).statusCode, 200)
    assert.equal((await make(lesser.key)).json().error.code, 'idempotency_key_reused')
  })

  test('the key is shown once, works at once on every replica, and is kept as a digest', async () => {
    const { status, body } = await call(bob, 'POST', '/v1/api-keys', { name: 'ci', seats: ['readers'] })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).sort(), ['created_at', 'created_by', 'id', 'key', 'name', 'prefix', 'seats'])
    assert.match(body.key, /^amphi_[\w-]{43}$/)
    assert.deepEqual([body.created_by, body.seats, body.prefix], ['bob', ['readers'], body.key.slice(0, 12)])
    for (const app of [service.app, second.app]) assert.equal(await read(body.key, app), 200)

    const [listed] = (await call(bob, 'GET', '/v1/api-keys?limit=1')).body.data
    assert.equal(listed.id, body.id)
    assert.equal('key' in listed, false)
    const rows = await service.process.system`select * from api_keys`
    assert.equal(JSON.stringify(rows).includes(body.key), false)
    const audit = await service.process.system`select * from audit`
    assert.equal(JSON.stringify(audit).includes(body.key), false)
  })

  test('a key has the seats it names and no others; by default all of its maker’s', async () => {
    const { key: narrow } = await aKey(bob, { seats: ['readers'] })
    assert.deepEqual([await read(narrow), await write(narrow)], [200, 403])
    const { key: wide, seats } = await aKey(bob)
    assert.deepEqual(seats.sort(), ['makers', 'readers', 'writers'])
    assert.deepEqual([await read(wide), await write(wide)], [200, 200])
  })

  test('what a key does is done by its maker', async () => {
    const { key } = await aKey(bob)
    const { body } = await call(key, 'GET', '/v1/users/me')
    assert.deepEqual([body.id, body.email], ['bob', 'bob@example.org'])
  })

  test('a seat that the maker does not hold cannot be lent', async () => {
    const { status, body } = await call(bob, 'POST', '/v1/api-keys', { name: 'x', seats: ['readers', 'admins'] })
    assert.deepEqual([status, body.error.code, body.error.param], [403, 'escalation', 'seats'])
  })

  test('without the permission there is no key', async () => {
    assert.equal((await call(await signIn('carol'), 'POST', '/v1/api-keys', { name: 'x' })).status, 403)
  })

  for (const [what, values] of Object.entries({
    'no name': {},
    'an expiry in the past': { name: 'x', expires_at: '2020-01-01T00:00:00Z' },
    'an expiry that is no time': { name: 'x', expires_at: 'tomorrow' },
    'no seat at all': { name: 'x', seats: [] },
    'an unknown field': { name: 'x', scope: 'all' },
  })) {
    test(`${what} is 400`, async () => {
      assert.equal((await call(bob, 'POST', '/v1/api-keys', values)).status, 400)
    })
  }
})

describe('a key made with a key', () => {
  test('has at most the seats of that key', async () => {
    const { key } = await aKey(bob, { seats: ['makers', 'readers'] })
    const { key: child, seats } = await aKey(key)
    assert.deepEqual(seats.sort(), ['makers', 'readers'])
    assert.deepEqual([await read(child), await write(child)], [200, 403])
    const { status, body } = await call(key, 'POST', '/v1/api-keys', { name: 'x', seats: ['writers'] })
    assert.deepEqual([status, body.error.code], [403, 'escalation'])
  })

  test('lasts no longer than that key, and goes when it goes', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString()
    const parent = await aKey(bob, { seats: ['makers', 'readers'], expires_at })
    const child = await aKey(parent.key)
    const grandchild = await aKey(child.key)
    assert.equal(child.expires_at, expires_at)
    const later = { name: 'x', expires_at: new Date(Date.now() + 120_000).toISOString() }
    assert.equal((await call(parent.key, 'POST', '/v1/api-keys', later)).status, 403)

    assert.equal((await call(bob, 'DELETE', `/v1/api-keys/${parent.id}`)).status, 204)
    for (const { key } of [parent, child, grandchild]) {
      for (const app of [service.app, second.app]) assert.equal(await read(key, app), 401)
    }
  })
})

describe('the life of a key', () => {
  test('a seat that its maker lost is lost to the key from the maker’s next login on, on every replica', async () => {
    const { key } = await aKey(bob, { seats: ['readers', 'writers'] })
    assert.deepEqual([await read(key), await write(key)], [200, 200])
    await signInWith('bob', 'writers')
    for (const app of [service.app, second.app]) assert.equal(await read(key, app), 403)
    assert.equal(await write(key), 200)
    await signInWith('bob', 'makers', 'readers', 'writers')
    assert.equal(await read(key, second.app), 200, 'and it is back when the maker has it back')
  })

  test('a seat that was deleted is lost to the key at once', async () => {
    await seat('passing', ['data-models:list'])
    const { key } = await aKey(await signInWith('bob', 'makers', 'passing'), { seats: ['passing'] })
    assert.equal(await read(key), 200)
    const { data } = (await call(ana, 'GET', '/v1/seats')).body
    const { id } = data.find(({ name }: { name: string }) => name === 'passing')
    assert.equal((await call(ana, 'DELETE', `/v1/seats/${id}`)).status, 204)
    for (const app of [service.app, second.app]) assert.equal(await read(key, app), 403)
  })

  test('an expired key is 401 on every replica, without anybody doing anything', async () => {
    const expires_at = new Date(Date.now() + 1500).toISOString()
    const { key } = await aKey(bob, { expires_at })
    assert.equal(await read(key), 200)
    await until('the key has expired', () => Date.now() > Date.parse(expires_at))
    for (const app of [service.app, second.app]) {
      const { status, body } = await call(key, 'GET', '/v1/users/me', undefined, app)
      assert.deepEqual([status, body.error.code], [401, 'token_expired'])
    }
  })

  test('a deleted key is 401 on every replica, and so is one that never was', async () => {
    const { id, key } = await aKey(bob)
    assert.equal((await call(bob, 'DELETE', `/v1/api-keys/${id}`)).status, 204)
    for (const app of [service.app, second.app]) {
      for (const bearer of [key, `amphi_${'x'.repeat(43)}`]) assert.equal(await read(bearer, app), 401)
    }
    assert.equal((await call(bob, 'DELETE', `/v1/api-keys/${id}`)).status, 404)
  })

  test('a replica that starts later knows the keys', async () => {
    const { key } = await aKey(bob, { seats: ['readers'] })
    const late = await startReplica(service)
    try {
      assert.equal(await read(key, late.app), 200)
    } finally {
      await late.close()
    }
  })

  test('a key that is made while its maker’s groups change ends up with what the maker has', async () => {
    for (let round = 0; round < 6; round++) {
      const groups = round % 2 === 0 ? ['makers', 'readers'] : ['makers', 'writers']
      const [{ key }] = await Promise.all([aKey(bob, { seats: ['readers', 'writers'] }), signInWith('bob', ...groups)])
      const expected = groups.includes('readers') ? [200, 403] : [403, 200]
      assert.deepEqual([await read(key), await write(key)], expected)
      assert.equal(await read(key, second.app), expected[0])
    }
  })

  test('when it was last used is noted', async () => {
    const { id, key } = await aKey(bob)
    await read(key)
    await service.process.keyUses.flush()
    const { data } = (await call(bob, 'GET', '/v1/api-keys')).body
    const { last_used_at } = data.find((listed: { id: string }) => listed.id === id)
    assert.ok(Math.abs(Date.now() - Date.parse(last_used_at)) < 60_000)
  })

  test('a key has no login to refresh or to end', async () => {
    const { key } = await aKey(bob)
    for (const url of ['/v1/auth/refresh', '/v1/auth/logout']) assert.equal((await call(key, 'POST', url)).status, 400)
  })
})

describe('whose keys', () => {
  test('people see and delete their own; with the permission in every space, everyone’s', async () => {
    const { id } = await aKey(ana)
    const { id: bobs } = await aKey(bob)
    const seen = async (bearer: string) =>
      (await call(bearer, 'GET', '/v1/api-keys?limit=1000')).body.data.map((key: { id: string }) => key.id)
    assert.equal((await seen(ana)).includes(bobs), true)
    assert.equal((await call(bob, 'POST', '/v1/spaces', { name: 'x', description: 'x' })).status, 403)
    assert.equal((await call(ana, 'POST', '/v1/spaces', { name: 'beyond', description: 'not bob’s' })).status, 200)
    assert.equal((await seen(bob)).includes(id), false)
    assert.equal((await call(bob, 'DELETE', `/v1/api-keys/${id}`)).status, 404)
    assert.equal((await call(ana, 'DELETE', `/v1/api-keys/${bobs}`)).status, 204)
  })
})
