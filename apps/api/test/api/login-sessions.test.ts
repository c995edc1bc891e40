// Staying signed in and signing out (contract 4.3, 5.3), on every replica.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sweepLogins } from '../../src/access/logins-store.ts'
import { connect } from '../../src/storage/sql.ts'
import { BASE_URL, person, signInThrough, startProvider, type TestProvider } from '../support/identity-provider.ts'
import { startReplica, type TestReplica } from '../support/replicas.ts'
import { type Reply, type Service, startService, toReply } from '../support/service.ts'

let provider: TestProvider
let service: Service
let second: TestReplica

before(async () => {
  provider = await startProvider([person('ana', 'admins')])
  service = await startService({ env: { ...provider.env('acme'), BASE_URL } })
  second = await startReplica(service)
})
after(async () => {
  await second.close()
  await service.close()
  await provider.close()
})

const signIn = async () => (await signInThrough(service.app, 'acme', 'ana')).get('access_token')!
const call = async (token: string, method: 'GET' | 'POST', url: string, app = service.app): Promise<Reply> =>
  toReply(await app.inject({ method, url, headers: { authorization: `Bearer ${token}` } }))
const isAlive = async (token: string, app = service.app) =>
  (await call(token, 'GET', '/v1/users/me', app)).status === 200
const asOwner = async (statement: string) => {
  const owner = connect(service.databaseUrl, { max: 1 })
  await owner.unsafe(statement)
  await owner.end()
}

describe('logout', () => {
  test('voids every token of the login at once, on every replica, and no other login', async () => {
    const [token, other] = [await signIn(), await signIn()]
    const refreshed = (await call(token, 'POST', '/v1/auth/refresh')).body.access_token
    for (const app of [service.app, second.app]) assert.ok(await isAlive(refreshed, app))

    assert.equal((await call(token, 'POST', '/v1/auth/logout')).status, 204)
    for (const app of [service.app, second.app]) {
      for (const dead of [token, refreshed]) {
        const { status, body } = await call(dead, 'GET', '/v1/users/me', app)
        assert.deepEqual([status, body.error.code], [401, 'unauthenticated'])
      }
      assert.ok(await isAlive(other, app))
    }
  })

  test('still counts on a replica that started afterwards', async () => {
    const token = await signIn()
    await call(token, 'POST', '/v1/auth/logout')
    const late = await startReplica(service)
    try {
      assert.equal(await isAlive(token, late.app), false)
    } finally {
      await late.close()
    }
  })

  test('is in the audit log', async () => {
    const token = await signIn()
    await call(token, 'POST', '/v1/auth/logout')
    const [entry] = (await call(await signIn(), 'GET', '/v1/audit?limit=2')).body.data.slice(1)
    assert.deepEqual([entry.action, entry.actor, entry.outcome], ['auth.logout', 'ana', 'done'])
  })
})

describe('refresh', () => {
  test('gives a token that works on every replica', async () => {
    const { status, body } = await call(await signIn(), 'POST', '/v1/auth/refresh')
    assert.deepEqual([status, body.token_type, body.expires_in], [200, 'Bearer', 3600])
    assert.ok(await isAlive(body.access_token, second.app))
  })

  test('is refused twelve hours after the login', async () => {
    const token = await signIn()
    await asOwner(`update logins set expires_at = now() - interval '1 second'`)
    const { status, body } = await call(token, 'POST', '/v1/auth/refresh')
    assert.deepEqual([status, body.error.code], [401, 'unauthenticated'])
    assert.match(body.error.message, /12 hours/)
  })

  test('needs a token', async () => {
    assert.equal((await service.app.inject({ method: 'POST', url: '/v1/auth/refresh' })).statusCode, 401)
  })
})

test('logins are forgotten once they can neither be refreshed nor have a valid token', async () => {
  const token = await signIn()
  await asOwner(`update logins set expires_at = now() - interval '1 second'`)
  await sweepLogins(service.process.system)
  const count = async () => (await service.process.system`select from logins`).length
  assert.ok((await count()) > 0, 'a token may still be valid')
  await asOwner(`update logins set tokens_until = now() - interval '1 second'`)
  await sweepLogins(service.process.system)
  assert.equal(await count(), 0)
  assert.ok(await isAlive(token), 'a forgotten login is not an ended one')
})
