// Action groups as a client sees them (contract 2.5, 4.2.1).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let admin: Person
let at: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  at = `/v1/spaces/${await service.firstSpace()}/action-groups`
})
after(() => service.close())

test('an action group is created, read, changed and deleted', async () => {
  const created = await admin.call('POST', at, { name: 'Spring', description: 'Offers of spring' })
  assert.equal(created.status, 200)
  assert.deepEqual(Object.keys(created.body).sort(), ['created_at', 'description', 'id', 'name'])
  const one = `${at}/${created.body.id}`
  assert.deepEqual((await admin.call('GET', one)).body, created.body)

  const updated = (await admin.call('PUT', one, { description: 'Offers of May' })).body
  assert.deepEqual([updated.name, updated.description], ['Spring', 'Offers of May'])
  assert.ok(updated.updated_at)

  assert.equal((await admin.call('DELETE', one)).status, 204)
  assert.equal((await admin.call('GET', one)).status, 404)
})

test('ten come by default, newest first', async () => {
  for (let n = 0; n < 11; n++) await admin.call('POST', at, { name: `group ${n}`, description: '' })
  const { body } = await admin.call('GET', at)
  assert.deepEqual([body.count, body.data.length, body.has_more, body.data[0].name], [11, 10, true, 'group 10'])
})

for (const [what, body, param] of [
  ['without a name', { description: 'x' }, 'name'],
  ['without a description', { name: 'x' }, 'description'],
  ['with an empty name', { name: '', description: 'x' }, 'name'],
  ['with an unknown field', { name: 'x', description: 'x', color: 'red' }, 'color'],
] as const) {
  test(`a group ${what} is refused, and the field is named`, async () => {
    const reply = await admin.call('POST', at, body)
    assert.deepEqual([reply.status, reply.body.error.param], [400, param])
  })
}

test('a group of another space is not there', async () => {
  const { body } = await admin.call('POST', at, { name: 'here', description: '' })
  const other = (await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })).body.id
  const everywhere = await service.signIn('ana', ['admins'])
  const there = `/v1/spaces/${other}/action-groups`
  assert.equal((await everywhere.call('GET', `${there}/${body.id}`)).status, 404)
  assert.equal((await everywhere.call('PUT', `${there}/${body.id}`, { name: 'stolen' })).status, 404)
  assert.equal((await everywhere.call('DELETE', `${there}/${body.id}`)).status, 404)
  assert.equal((await everywhere.call('GET', there)).body.count, 0)
  assert.equal((await admin.call('GET', `${at}/${newId()}`)).status, 404)
})
