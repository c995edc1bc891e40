// What a refused caller is told (contract 7): nothing false, nothing about others, and enough to mend it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { BASE_URL, person, signInThrough, startProvider, type TestProvider } from '../support/identity-provider.ts'
import { type Person, type Service, startService, toReply } from '../support/service.ts'

let provider: TestProvider
let service: Service
let admin: Person
let space: string
let other: string

before(async () => {
  provider = await startProvider([person('ana', 'admins')])
  service = await startService({ env: { ...provider.env('acme'), BASE_URL, RATE_LIMIT_LOGIN_PER_MINUTE: '0' } })
  space = await service.firstSpace()
  admin = await service.signIn('ana', ['admins'])
  other = await aSpace()
  admin = await service.signIn('ana', ['admins'])
})
after(async () => {
  await service.close()
  await provider.close()
})

let n = 0
const aSeat = async (permissions: string[], spaces = [space]) => {
  const { status, body } = await admin.call('POST', '/v1/seats', { name: `seat-${n++}`, spaces, permissions })
  assert.equal(status, 200, JSON.stringify(body))
  return body as { id: string; name: string }
}
const aSpace = async (): Promise<string> =>
  (await admin.call('POST', '/v1/spaces', { name: `space ${n++}`, description: '' })).body.id
const models = (inSpace = space) => `/v1/spaces/${inSpace}/data-models`

describe('in a space', () => {
  test('it names the space, the permission and the seats that were considered', async () => {
    const { name } = await aSeat(['data-models:list'])
    const bob = await service.signIn('bob', [name])
    const { status, body } = await bob.call('POST', models(), { name: 'x' })
    assert.equal(status, 403)
    assert.equal(body.error.type, 'permission_error')
    assert.deepEqual(body.error.access, { space, permission: 'data-models:create', seats: [name] })
    assert.match(body.error.message, /data-models:create/)
  })

  test('a person may ask beforehand and gets the reason', async () => {
    const { name } = await aSeat(['data-models:list'])
    const bob = await service.signIn('bob', [name])
    const yes = await bob.call('POST', '/v1/access/check', { permission: 'data-models:list', space })
    assert.deepEqual(yes.body, {
      allowed: true,
      seats: [name],
      reason: `Your seats in space ${space} hold data-models:list`,
    })
    const no = await bob.call('POST', '/v1/access/check', { permission: 'data-models:delete', space })
    assert.equal(no.body.allowed, false)
    assert.deepEqual(no.body.seats, [name])
    const elsewhere = await bob.call('POST', '/v1/access/check', { permission: 'data-models:list', space: other })
    assert.deepEqual([elsewhere.body.allowed, elsewhere.body.seats], [false, []])
  })

  test('a seat that was deleted, or that left the space, is not said to be there', async () => {
    const [gone, left] = [await aSeat(['*']), await aSeat(['*'])]
    const bob = await service.signIn('bob', [gone.name, left.name])
    await admin.call('DELETE', `/v1/seats/${gone.id}`)
    await admin.call('PUT', `/v1/seats/${left.id}`, { spaces: [other] })
    const { body } = await bob.call('GET', models())
    assert.deepEqual(body.error.access.seats, [])
    assert.equal(body.error.message, `This needs data-models:list in space ${space}, and you hold no seat there`)
  })

  test('a space that was deleted is told of as one that never was', async () => {
    const made = await aSpace()
    const ana = await service.signIn('ana', ['admins'])
    assert.equal((await ana.call('DELETE', `/v1/spaces/${made}`)).status, 204)
    const never = newId()
    const told = async (id: string) => (await ana.call('GET', models(id))).body.error
    const [one, another] = [await told(made), await told(never)]
    assert.equal(one.message, another.message.replace(never, made))
    assert.deepEqual(one.access, { space: made, permission: 'data-models:list', seats: [] })
  })
})

describe('with a token older than the seat is in the space', () => {
  const signIn = async () => (await signInThrough(service.app, 'acme', 'ana')).get('access_token')!
  const send = async (token: string, method: 'GET' | 'POST', url: string, payload?: object) =>
    toReply(
      await service.app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${token}` },
        ...(payload && { payload }),
      }),
    )

  test('it says that a new token helps, and it does', async () => {
    const token = await signIn()
    const { body: made } = await send(token, 'POST', '/v1/spaces', { name: 'new', description: '' })
    const { status, body } = await send(token, 'GET', models(made.id))
    assert.equal(status, 403)
    assert.equal(
      body.error.message,
      `This needs data-models:list in space ${made.id}. Your seats there (admins) hold it, but your token is older than that: get a new one by POST /v1/auth/refresh`,
    )
    assert.deepEqual(body.error.access.seats, ['admins'])
    const check = { permission: 'data-models:list', space: made.id }
    assert.match((await send(token, 'POST', '/v1/access/check', check)).body.reason, /auth\/refresh/)

    const { body: refreshed } = await send(token, 'POST', '/v1/auth/refresh')
    assert.equal((await send(refreshed.access_token, 'GET', models(made.id))).status, 200)
  })

  test('it does not say so where the seat would not allow it either', async () => {
    const { id, name } = await aSeat(['data-models:list'])
    const bob = await service.signIn('bob', [name])
    await admin.call('PUT', `/v1/seats/${id}`, { spaces: [space, other] })
    const { body } = await bob.call('POST', models(other), { name: 'x' })
    assert.equal(
      body.error.message,
      `This needs data-models:create in space ${other}, and your seats there (${name}) do not hold it`,
    )
  })

  test('it tells nobody of seats that others bear', async () => {
    const { name } = await aSeat(['*'], [other])
    const bob = await service.signIn('bob', [(await aSeat([])).name])
    const { text } = await bob.call('GET', models(other))
    assert.match(text, /you hold no seat there/)
    assert.equal(text.includes(name), false)
  })
})

describe('for what belongs to the tenant', () => {
  test('it names the seats that live, and speaks of no particular space', async () => {
    const [here, gone] = [await aSeat([]), await aSeat(['audit:list'])]
    const bob = await service.signIn('bob', [here.name, gone.name])
    await admin.call('DELETE', `/v1/seats/${gone.id}`)
    const { body } = await bob.call('GET', '/v1/audit')
    assert.equal(
      body.error.message,
      `This needs audit:list in at least one space, and your seats (${here.name}) do not hold it`,
    )
    assert.deepEqual(body.error.access, { permission: 'audit:list', seats: [here.name] })
  })

  test('it says so where the caller has no seat at all', async () => {
    const nobody = await service.bearing('nobody', [])
    const { body } = await nobody.call('GET', '/v1/audit')
    assert.equal(body.error.message, 'This needs audit:list in at least one space, and you hold no seat')
  })

  test('for a space itself, the seats count as they live now, whatever the token knows', async () => {
    const { id, name } = await aSeat(['spaces:get'])
    const bob = await service.signIn('bob', [name])
    await admin.call('PUT', `/v1/seats/${id}`, { spaces: [space, other] })
    const { body } = await bob.call('DELETE', `/v1/spaces/${other}`)
    assert.deepEqual(body.error.access, { space: other, permission: 'spaces:delete', seats: [name] })
  })
})

describe('who would hand out more than they hold', () => {
  const make = (who: Person, permissions: string[], spaces: string[], headers = {}) =>
    who.call('POST', '/v1/seats', { name: `made-${n++}`, spaces, permissions }, headers)

  test('is told which seats were considered', async () => {
    const { name } = await aSeat(['seats:create'])
    const kim = await service.signIn('kim', [name])
    const { body } = await make(kim, ['data-models:get'], [space])
    assert.equal(body.error.code, 'escalation')
    assert.deepEqual(body.error.access, { space, permission: 'data-models:get', seats: [name] })
    assert.equal(
      body.error.message,
      `You cannot grant data-models:get in space ${space}: your seats there (${name}) do not hold it`,
    )
  })

  test('is told what is missing in another of the spaces', async () => {
    const [keepers, readers] = [await aSeat(['seats:create']), await aSeat(['data-models:get'], [other])]
    const kim = await service.signIn('kim', [keepers.name, readers.name])
    const { body } = await make(kim, [], [space, other])
    assert.equal(body.error.code, 'forbidden')
    assert.deepEqual(body.error.access, { space: other, permission: 'seats:create', seats: [readers.name] })
  })

  test('is told of the Space header where that is what keeps them', async () => {
    const { name } = await aSeat(['seats:create'], [space, other])
    const kim = await service.signIn('kim', [name])
    const { body } = await make(kim, [], [space], { space: other })
    assert.equal(
      body.error.message,
      `This needs seats:create in space ${space} as well, and the Space header limits this request to ${other}`,
    )
  })

  test('lends a key no seat of others, and is told which ones they have', async () => {
    const { name } = await aSeat(['api-keys:create'])
    const kim = await service.signIn('kim', [name])
    const { body } = await kim.call('POST', '/v1/api-keys', { name: 'x', seats: ['admins'] })
    assert.equal(body.error.code, 'escalation')
    assert.deepEqual(body.error.access, { permission: 'api-keys:create', seats: [name] })
  })
})
