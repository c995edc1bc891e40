// Seats as a client sees them (contract 2.1, 4.1, 5.2).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let admin: Person
let space: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
})
after(() => service.close())

const aSeat = async (name: string, permissions: string[], spaces = [space]) => {
  const { status, body } = await admin.call('POST', '/v1/seats', { name, spaces, permissions })
  assert.equal(status, 200, JSON.stringify(body))
  return body as { id: string; name: string }
}
const aSpace = async (name: string) => {
  const { status, body } = await admin.call('POST', '/v1/spaces', { name, description: name })
  assert.equal(status, 200)
  return body.id as string
}

describe('create and get', () => {
  test('a created seat comes back with its fields and no trace of an update', async () => {
    const { status, body } = await admin.call('POST', '/v1/seats', {
      name: 'readers',
      spaces: [space],
      permissions: ['trainings:list'],
    })
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).sort(), ['created_at', 'created_by', 'id', 'name', 'permissions', 'spaces'])
    assert.deepEqual(
      [body.name, body.spaces, body.permissions, body.created_by],
      ['readers', [space], ['trainings:list'], 'ana'],
    )
    assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual((await admin.call('GET', `/v1/seats/${body.id}`)).body, body)
  })

  test('a name that is taken is a conflict that names its code', async () => {
    await aSeat('taken', [])
    const { status, body } = await admin.call('POST', '/v1/seats', { name: 'taken', spaces: [space], permissions: [] })
    assert.equal(status, 409)
    assert.equal(body.error.code, 'seat_name_taken')
    assert.equal(body.error.type, 'conflict_error')
  })

  test('the order and the number of spaces is kept, and repeats are dropped', async () => {
    const other = await aSpace('other')
    const { body } = await admin.call('POST', '/v1/seats', {
      name: 'two',
      spaces: [other, space, other],
      permissions: ['*', '*'],
    })
    assert.deepEqual(body.spaces, [other, space])
    assert.deepEqual(body.permissions, ['*'])
  })

  for (const [what, patch] of Object.entries({
    'a partial wildcard': { permissions: ['trainings:*'] },
    'a permission without an operation': { permissions: ['trainings'] },
    'a space that is not there': { spaces: [newId()] },
    'a space id that is none': { spaces: ['nowhere'] },
    'no space at all': { spaces: [] },
    'an empty name': { name: '' },
    'a name with a space at its edge': { name: 'x ' },
    'a name with a control character': { name: 'a\tb' },
    'a name with a NUL character': { name: 'a\0b' },
    'half a surrogate pair': { name: 'a\ud800' },
    'an unknown field': { color: 'red' },
    'a name that is a number': { name: 5 },
  })) {
    test(`${what} is refused with 400 and leaves nothing behind`, async () => {
      const before = (await admin.call('GET', '/v1/seats')).body.count
      const { status, body } = await admin.call('POST', '/v1/seats', {
        name: 'bad',
        spaces: [space],
        permissions: [],
        ...patch,
      })
      assert.equal(status, 400, JSON.stringify(body))
      assert.equal(body.error.type, 'invalid_request_error')
      assert.ok(body.error.param, JSON.stringify(body))
      assert.equal((await admin.call('GET', '/v1/seats')).body.count, before)
    })
  }

  test('a malformed id is 404, like an id that no seat has', async () => {
    assert.equal((await admin.call('GET', '/v1/seats/nothing')).status, 404)
    assert.equal((await admin.call('GET', `/v1/seats/${newId()}`)).status, 404)
  })
})

describe('list', () => {
  test('a listed seat has exactly the list form', async () => {
    const { status, body } = await admin.call('GET', '/v1/seats')
    assert.equal(status, 200)
    assert.deepEqual(Object.keys(body).sort(), ['count', 'data', 'has_more'])
    assert.deepEqual(Object.keys(body.data[0]).sort(), [
      'created_at',
      'id',
      'member_count',
      'name',
      'permissions',
      'spaces',
    ])
    assert.equal(body.data[0].member_count, 0)
  })

  test('twenty come by default, newest first, and after leads through all of them once', async () => {
    for (let i = 0; i < 25; i++) await aSeat(`many-${i}`, [])
    const first = (await admin.call('GET', '/v1/seats')).body
    assert.equal(first.data.length, 20)
    assert.equal(first.has_more, true)
    const seen: string[] = []
    let after = ''
    for (;;) {
      const page = (await admin.call('GET', `/v1/seats?limit=7&after=${after}`)).body
      assert.equal(page.count, first.count)
      seen.push(...page.data.map((seat: { id: string }) => seat.id))
      if (!page.has_more) break
      after = seen.at(-1)!
    }
    assert.equal(seen.length, first.count)
    assert.equal(new Set(seen).size, seen.length)
    assert.deepEqual(seen, [...seen].sort().reverse())
  })

  test('a cursor whose seat was deleted still works', async () => {
    const { id } = await aSeat('cursor', [])
    const older = (await admin.call('GET', `/v1/seats?after=${id}&limit=3`)).body.data
    assert.equal((await admin.call('DELETE', `/v1/seats/${id}`)).status, 204)
    assert.deepEqual((await admin.call('GET', `/v1/seats?after=${id}&limit=3`)).body.data, older)
  })

  for (const query of ['limit=0', 'limit=1001', 'limit=x', 'limit=2.5', 'limit=', 'after=nonsense']) {
    test(`${query} is 400`, async () => {
      const { status, body } = await admin.call('GET', `/v1/seats?${query}`)
      assert.equal(status, 400, JSON.stringify(body))
      assert.equal(body.error.param, query.split('=')[0])
    })
  }
})

describe('update', () => {
  test('only what is given changes, and the update is signed', async () => {
    const { id } = await aSeat('before', ['trainings:list'])
    const { status, body } = await admin.call('PUT', `/v1/seats/${id}`, { permissions: ['trainings:get'] })
    assert.equal(status, 200)
    assert.deepEqual(
      [body.name, body.spaces, body.permissions, body.updated_by],
      ['before', [space], ['trainings:get'], 'ana'],
    )
    assert.ok(body.updated_at)
    assert.equal((await admin.call('PATCH', `/v1/seats/${id}`, { name: 'after' })).body.name, 'after')
  })

  test('an update of nothing leaves no trace', async () => {
    const { id } = await aSeat('still', [])
    const { body } = await admin.call('PUT', `/v1/seats/${id}`, {})
    assert.equal('updated_at' in body, false)
  })

  test('renaming to a taken name is a conflict and changes nothing', async () => {
    const { id } = await aSeat('old-name', [])
    await aSeat('used-name', [])
    assert.equal((await admin.call('PUT', `/v1/seats/${id}`, { name: 'used-name' })).status, 409)
    assert.equal((await admin.call('GET', `/v1/seats/${id}`)).body.name, 'old-name')
  })
})

describe('delete', () => {
  test('a deleted seat is answered with 204 and no body, and is gone', async () => {
    const { id } = await aSeat('gone', [])
    const reply = await admin.call('DELETE', `/v1/seats/${id}`)
    assert.equal(reply.status, 204)
    assert.equal(reply.text, '')
    assert.equal((await admin.call('GET', `/v1/seats/${id}`)).status, 404)
    assert.equal((await admin.call('DELETE', `/v1/seats/${id}`)).status, 404)
  })

  test('the last seat holding * cannot be deleted, renamed, emptied or moved away', async () => {
    const { body } = await admin.call('GET', '/v1/seats?limit=1000')
    for (const seat of body.data)
      if (seat.permissions.includes('*') && seat.name !== 'admins') await admin.call('DELETE', `/v1/seats/${seat.id}`)
    const admins = body.data.find((seat: { name: string }) => seat.name === 'admins')
    const attempts = [
      await admin.call('DELETE', `/v1/seats/${admins.id}`),
      await admin.call('PUT', `/v1/seats/${admins.id}`, { name: 'bosses' }),
      await admin.call('PUT', `/v1/seats/${admins.id}`, { permissions: ['seats:list'] }),
    ]
    for (const { status, body } of attempts) assert.deepEqual([status, body.error.code], [409, 'last_admin_seat'])
  })
})
