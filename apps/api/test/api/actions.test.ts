// Actions as a client sees them (contract 2.6, 3.1, 4.2.1).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let admin: Person
let at: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  at = `/v1/spaces/${await service.firstSpace()}/actions`
})
after(() => service.close())

const basics = { name: 'Call', description: 'Call the client', type: 'contact', priority: 'medium' }
const anAction = async (more: object = {}) => {
  const { status, body } = await admin.call('POST', at, { ...basics, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

describe('create', () => {
  test('an action of the four needed fields begins as a draft', async () => {
    const action = await anAction()
    const keys = ['created_at', 'description', 'id', 'name', 'priority', 'status', 'type']
    assert.deepEqual(Object.keys(action).sort(), keys)
    assert.equal(action.status, 'draft')
    assert.deepEqual((await admin.call('GET', `${at}/${action.id}`)).body, action)
  })

  test('every other field comes back as it was given, dates in UTC', async () => {
    const more = {
      status: 'active',
      channel: 'mail',
      channel_template: 'Dear {{name}}',
      custom_insights: 'likes tea',
      model_id: 'm-1',
      start_date: '2026-01-01T01:00:00+01:00',
      end_date: '2026-01-01T00:00:00Z',
    }
    const dates = { start_date: '2026-01-01T00:00:00.000Z', end_date: '2026-01-01T00:00:00.000Z' }
    const { id, created_at, ...rest } = await anAction(more)
    assert.deepEqual(rest, { ...basics, ...more, ...dates })
  })

  for (const [what, patch, param] of [
    ['a group', { group: 'spring' }, 'group'],
    ['no name', { name: undefined }, 'name'],
    ['no description', { description: undefined }, 'description'],
    ['no type', { type: undefined }, 'type'],
    ['no priority', { priority: undefined }, 'priority'],
    ['a priority that is none', { priority: 'urgent' }, 'priority'],
    ['a status that is none', { status: 'done' }, 'status'],
    ['an end before its start', { start_date: '2026-02-01T00:00:00Z', end_date: '2026-01-31T23:59:59Z' }, 'end_date'],
    ['a date that is none', { start_date: 'tomorrow' }, 'start_date'],
    ['a day that does not exist', { start_date: '2026-02-30T00:00:00Z' }, 'start_date'],
    ['a year before the first', { start_date: '0000-01-01T00:00:00Z' }, 'start_date'],
  ] as const) {
    test(`${what} is refused, and the field is named`, async () => {
      const { status, body } = await admin.call('POST', at, { ...basics, ...patch })
      assert.deepEqual([status, body.error.param], [400, param], JSON.stringify(body))
    })
  }
})

describe('update', () => {
  test('only what is given changes, and the group is kept as given', async () => {
    const { id } = await anAction({ channel: 'mail' })
    const { status, body } = await admin.call('PUT', `${at}/${id}`, { group: 'Spring offers', status: 'archived' })
    assert.equal(status, 200)
    assert.deepEqual([body.group, body.status, body.channel, body.name], ['Spring offers', 'archived', 'mail', 'Call'])
    assert.ok(body.updated_at)
  })

  test('any status may follow any other', async () => {
    const { id } = await anAction({ status: 'archived' })
    for (const status of ['draft', 'inactive', 'active', 'archived']) {
      assert.equal((await admin.call('PATCH', `${at}/${id}`, { status })).body.status, status)
    }
  })

  test('an end before the start that was there is refused and changes nothing', async () => {
    const { id } = await anAction({ start_date: '2026-06-01T00:00:00Z' })
    const { status, body } = await admin.call('PUT', `${at}/${id}`, { name: 'X', end_date: '2026-05-01T00:00:00Z' })
    assert.deepEqual([status, body.error.param], [400, 'end_date'])
    const kept = (await admin.call('GET', `${at}/${id}`)).body
    assert.deepEqual([kept.name, kept.end_date, kept.updated_at], ['Call', undefined, undefined])
  })

  test('an update of an unknown field is refused', async () => {
    const { id } = await anAction()
    assert.equal((await admin.call('PUT', `${at}/${id}`, { created_at: 'x' })).body.error.code, 'unknown_field')
  })
})

describe('list', () => {
  test('filters by status, group and priority add up, and count counts what matches', async () => {
    const other = (await admin.call('POST', '/v1/spaces', { name: 'lists', description: '' })).body.id
    const person = await service.signIn('ana', ['admins'])
    const here = `/v1/spaces/${other}/actions`
    for (let n = 0; n < 12; n++) {
      const priority = n % 2 ? 'low' : 'high'
      const { body } = await person.call('POST', here, { ...basics, name: `a${n}`, priority, status: 'active' })
      if (n % 3 === 0) await person.call('PUT', `${here}/${body.id}`, { group: 'g' })
    }
    const names = async (query: string) => {
      const { body } = await person.call('GET', `${here}?${query}`)
      assert.equal(body.count, body.data.length)
      return body.data.map(({ name }: { name: string }) => name)
    }
    assert.deepEqual(await names('priority=low&group=g'), ['a9', 'a3'])
    assert.deepEqual(await names('group=g'), ['a9', 'a6', 'a3', 'a0'])
    assert.deepEqual(await names('status=draft'), [])
    const page = (await person.call('GET', `${here}?status=active&limit=5`)).body
    assert.deepEqual([page.count, page.data.length, page.has_more], [12, 5, true])
    assert.equal((await person.call('GET', here)).body.data.length, 10)
  })

  test('a filter by a value that does not exist is 400', async () => {
    assert.equal((await admin.call('GET', `${at}?status=done`)).body.error.param, 'status')
    assert.equal((await admin.call('GET', `${at}?priority=urgent`)).body.error.param, 'priority')
  })
})

test('a deleted action is gone', async () => {
  const { id } = await anAction()
  assert.equal((await admin.call('DELETE', `${at}/${id}`)).status, 204)
  assert.equal((await admin.call('DELETE', `${at}/${id}`)).status, 404)
})
