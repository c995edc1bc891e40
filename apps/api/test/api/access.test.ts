// The permission check as a client meets it (contract 5.2, 5.5, 7, 9).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let admin: Person
let space: string
let other: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
  other = (await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })).body.id
  admin = await service.signIn('ana', ['admins'])
})
after(() => service.close())

let n = 0
const aSeat = async (permissions: string[], spaces = [space]) => {
  const { status, body } = await admin.call('POST', '/v1/seats', { name: `seat-${n++}`, spaces, permissions })
  assert.equal(status, 200, JSON.stringify(body))
  return body as { id: string; name: string }
}
const models = (inSpace = space) => `/v1/spaces/${inSpace}/data-models`

describe('what grants', () => {
  test('a seat grants what it holds in its space, and nothing elsewhere', async () => {
    const { name } = await aSeat(['data-models:list'])
    const bob = await service.signIn('bob', [name])
    assert.equal((await bob.call('GET', models())).status, 200)
    assert.equal((await bob.call('POST', models(), { name: 'x' })).status, 403)
    assert.equal((await bob.call('GET', models(other))).status, 403)
  })

  test('several seats in one space are combined', async () => {
    const a = await aSeat(['data-models:list'])
    const b = await aSeat(['data-models:create'])
    const bob = await service.signIn('bob', [a.name, b.name])
    assert.equal((await bob.call('GET', models())).status, 200)
    assert.equal((await bob.call('POST', models(), { name: 'x' })).status, 200)
  })

  test('a seat in several spaces grants the same in each', async () => {
    const { name } = await aSeat(['data-models:list'], [space, other])
    const bob = await service.signIn('bob', [name])
    assert.equal((await bob.call('GET', models(space))).status, 200)
    assert.equal((await bob.call('GET', models(other))).status, 200)
  })

  test('the wildcard grants every operation', async () => {
    const { name } = await aSeat(['*'])
    const bob = await service.signIn('bob', [name])
    assert.equal((await bob.call('POST', models(), { name: 'x' })).status, 200)
    assert.equal((await bob.call('GET', '/v1/audit')).status, 200)
  })

  test('a seat name with colons in it works', async () => {
    const { body } = await admin.call('POST', '/v1/seats', {
      name: 'cn=team:a:b',
      spaces: [space],
      permissions: ['data-models:list'],
    })
    const bob = await service.signIn('bob', [body.name])
    assert.equal((await bob.call('GET', models())).status, 200)
  })

  test('a token entry for a space that the live seat does not contain grants nothing', async () => {
    const { name } = await aSeat(['*'])
    const bob = await service.bearing('bob', [`${other}:${name}`, `${newId()}:${name}`])
    assert.equal((await bob.call('GET', models(other))).status, 403)
  })
})

describe('a change counts from the next request on', () => {
  const change = {
    'a removed permission': (id: string) => admin.call('PUT', `/v1/seats/${id}`, { permissions: [] }),
    'a rename': (id: string) => admin.call('PUT', `/v1/seats/${id}`, { name: `renamed-${n++}` }),
    'a move to another space': (id: string) => admin.call('PUT', `/v1/seats/${id}`, { spaces: [other] }),
    'a deletion': (id: string) => admin.call('DELETE', `/v1/seats/${id}`),
  }
  for (const [what, apply] of Object.entries(change)) {
    test(`${what} stops the grant`, async () => {
      const { id, name } = await aSeat(['data-models:list'])
      const bob = await service.signIn('bob', [name])
      assert.equal((await bob.call('GET', models())).status, 200)
      assert.ok((await apply(id)).status < 300)
      assert.equal((await bob.call('GET', models())).status, 403)
    })
  }

  test('an added permission begins to grant', async () => {
    const { id, name } = await aSeat([])
    const bob = await service.signIn('bob', [name])
    assert.equal((await bob.call('GET', models())).status, 403)
    await admin.call('PUT', `/v1/seats/${id}`, { permissions: ['data-models:list'] })
    assert.equal((await bob.call('GET', models())).status, 200)
  })
})

describe('both address forms', () => {
  test('they reach the same object; the header form says that it is deprecated and where to go', async () => {
    const { body } = await admin.call('POST', models(), { name: 'risk', description: 'who pays back' })
    const old = await admin.call('GET', `/v1/data-models/${body.id}`, undefined, { space })
    assert.deepEqual(old.body, body)
    assert.match(String(old.headers['deprecation']), /^@\d+$/)
    assert.equal(old.headers['link'], `</v1/spaces/${space}/data-models/${body.id}>; rel="successor-version"`)
    const current = await admin.call('GET', `${models()}/${body.id}`)
    assert.equal('deprecation' in current.headers, false)
  })

  test('path and header may agree, and may not contradict each other', async () => {
    assert.equal((await admin.call('GET', models(), undefined, { space })).status, 200)
    const { status, body } = await admin.call('GET', models(), undefined, { space: other })
    assert.deepEqual([status, body.error.code], [400, 'space_mismatch'])
  })

  test('without a space in path or header it is 400', async () => {
    const { status, body } = await admin.call('GET', '/v1/data-models')
    assert.deepEqual([status, body.error.code], [400, 'space_required'])
  })

  test('an unknown space is 403, an object of another space is 404', async () => {
    assert.equal((await admin.call('GET', models(newId()))).status, 403)
    assert.equal((await admin.call('GET', models('no-space'))).status, 403)
    const { body } = await admin.call('POST', models(), { name: 'here' })
    assert.equal((await admin.call('GET', `${models(other)}/${body.id}`)).status, 404)
    assert.equal((await admin.call('DELETE', `${models(other)}/${body.id}`)).status, 404)
  })
})

describe('nobody hands out more than they hold', () => {
  const keeper = async (permissions: string[], spaces = [space]) => {
    const { name } = await aSeat(
      ['seats:create', 'seats:update', 'seats:delete', 'seats:list', 'seats:get', ...permissions],
      spaces,
    )
    return service.signIn('kim', [name])
  }

  test('a seat keeper can grant what they hold, and not more', async () => {
    const kim = await keeper(['data-models:list'])
    const make = (permissions: string[], spaces = [space]) =>
      kim.call('POST', '/v1/seats', { name: `made-${n++}`, spaces, permissions })
    assert.equal((await make(['data-models:list'])).status, 200)
    for (const reply of [await make(['data-models:get']), await make(['*']), await make([], [space, other])])
      assert.equal(reply.status, 403)
    assert.equal((await make(['*'])).body.error.code, 'escalation')
  })

  test('a keeper cannot take over a stronger seat by renaming it', async () => {
    const kim = await keeper([])
    const strong = await aSeat(['data-models:delete'])
    assert.equal((await kim.call('PUT', `/v1/seats/${strong.id}`, { name: `mine-${n++}` })).status, 403)
  })

  test('a keeper may take permissions away from a seat that holds more', async () => {
    const kim = await keeper([])
    const strong = await aSeat(['data-models:delete', 'data-models:list'])
    const { status } = await kim.call('PUT', `/v1/seats/${strong.id}`, { permissions: ['data-models:list'] })
    assert.equal(status, 200)
  })

  test('a keeper of one space may detach a seat from it, but not from another one', async () => {
    const kim = await keeper([])
    const wide = await aSeat(['data-models:delete'], [space, other])
    assert.equal((await kim.call('PUT', `/v1/seats/${wide.id}`, { spaces: [space] })).status, 403)
    assert.equal((await kim.call('PUT', `/v1/seats/${wide.id}`, { spaces: [other] })).status, 200)
  })

  test('a keeper deletes only seats whose every space is theirs', async () => {
    const kim = await keeper([])
    const wide = await aSeat([], [space, other])
    const here = await aSeat([], [space])
    assert.equal((await kim.call('DELETE', `/v1/seats/${wide.id}`)).status, 403)
    assert.equal((await kim.call('DELETE', `/v1/seats/${here.id}`)).status, 204)
  })

  test('seats of spaces where a keeper holds nothing are not there for them', async () => {
    const kim = await keeper([])
    const hidden = await aSeat([], [other])
    assert.equal((await kim.call('GET', `/v1/seats/${hidden.id}`)).status, 404)
    assert.equal((await kim.call('PUT', `/v1/seats/${hidden.id}`, { name: 'x' })).status, 404)
    const { body } = await kim.call('GET', '/v1/seats?limit=1000')
    assert.equal(
      body.data.some((seat: { id: string }) => seat.id === hidden.id),
      false,
    )
    assert.equal(body.count, body.data.length)
  })

  test('a Space header narrows what the caller brings along', async () => {
    const kim = await keeper(['data-models:list'], [space, other])
    const make = (spaces: string[], header: string) =>
      kim.call('POST', '/v1/seats', { name: `narrow-${n++}`, spaces, permissions: [] }, { space: header })
    assert.equal((await make([other], other)).status, 200)
    assert.equal((await make([space], other)).status, 403)
  })
})
