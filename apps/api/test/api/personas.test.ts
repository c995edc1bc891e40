// Personas, one at a time, as a client sees them (contract 2.20, 4.2.12).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let admin: Person
let at: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  at = `/v1/spaces/${await service.firstSpace()}/personas`
})
after(() => service.close())

const ann = { name: 'Ann', notes: 'Likes tea', birthdate: '1990-12-31' }

test('a persona comes back with its fields, its birthdate as the day it is', async () => {
  const given = { ...ann, data: { city: 'Oslo', children: [{ age: 3 }] } }
  const { status, body } = await admin.call('POST', at, given)
  assert.equal(status, 200, JSON.stringify(body))
  const { id, created_at, created_by, ...rest } = body
  assert.deepEqual([rest, created_by], [given, 'ana'])
  assert.deepEqual((await admin.call('GET', `${at}/${id}`)).body, body)
})

test('an update changes only what is given, and is signed', async () => {
  const { id } = (await admin.call('POST', at, { ...ann, data: { a: 1, b: 2 } })).body
  const { body } = await admin.call('PUT', `${at}/${id}`, { birthdate: '2000-02-29', data: { c: 3 } })
  assert.deepEqual([body.name, body.birthdate, body.data, body.updated_by], ['Ann', '2000-02-29', { c: 3 }, 'ana'])
})

test('two personas may have the same name and birthdate', async () => {
  assert.equal((await admin.call('POST', at, ann)).status, 200)
  assert.equal((await admin.call('POST', at, ann)).status, 200)
})

test('ten come by default, newest first, and a deleted one is gone', async () => {
  for (let n = 0; n < 11; n++) await admin.call('POST', at, { ...ann, name: `p${n}` })
  const { data, has_more } = (await admin.call('GET', at)).body
  assert.deepEqual([data.length, has_more, data[0].name, data[9].name], [10, true, 'p10', 'p1'])
  assert.equal((await admin.call('DELETE', `${at}/${data[0].id}`)).status, 204)
  assert.equal((await admin.call('GET', at)).body.data[0].name, 'p9')
})

for (const [what, patch, param] of [
  ['no name', { name: undefined }, 'name'],
  ['an empty name', { name: '' }, 'name'],
  ['a name of more than 500 characters', { name: 'x'.repeat(501) }, 'name'],
  ['no notes', { notes: undefined }, 'notes'],
  ['no birthdate', { birthdate: undefined }, 'birthdate'],
  ['a birthdate with a time', { birthdate: '1990-12-31T00:00:00Z' }, 'birthdate'],
  ['a day that does not exist', { birthdate: '2001-02-29' }, 'birthdate'],
  ['a year that does not exist', { birthdate: '0000-01-01' }, 'birthdate'],
  ['a day in another notation', { birthdate: '31.12.1990' }, 'birthdate'],
  ['data that are no object', { data: [1] }, 'data'],
  ['data without end', { data: { x: JSON.parse('['.repeat(150) + ']'.repeat(150)) } }, 'data'],
  ['an unknown field', { age: 5 }, 'age'],
] as const) {
  test(`${what} is refused, on creation and on update`, async () => {
    const created = await admin.call('POST', at, { ...ann, ...patch })
    assert.deepEqual([created.status, created.body.error.param], [400, param], JSON.stringify(created.body))
    if (Object.values(patch)[0] === undefined) return
    const { id } = (await admin.call('POST', at, ann)).body
    assert.equal((await admin.call('PUT', `${at}/${id}`, patch)).status, 400)
  })
}
