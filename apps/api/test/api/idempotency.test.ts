// Idempotency-Key (contract 4.0): a repeated POST gets the first answer, and nothing runs twice.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Grant } from '../../src/base/grant.ts'
import { newId } from '../../src/base/ids.ts'
import { keepAnswer, releaseKey, takeKey } from '../../src/storage/idempotency.ts'
import { failing } from '../support/failing-table.ts'
import { type Person, type Service, startService, until } from '../support/service.ts'

let service: Service
let admin: Person
let space: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
})
after(() => service.close())

const make = (key: string, name: string, who = admin) =>
  who.call('POST', '/v1/seats', { name, spaces: [space], permissions: [] }, { 'idempotency-key': key })

test('a repeat gets the first answer and does nothing', async () => {
  const key = newId()
  const first = await make(key, `once-${key}`)
  const second = await make(key, `once-${key}`)
  assert.equal(first.status, 200)
  assert.deepEqual(second.body, first.body)
  assert.equal(second.headers['idempotent-replayed'], 'true')
})

test('a refusal is repeated too', async () => {
  const key = newId()
  const first = await make(key, 'admins')
  const second = await make(key, 'admins')
  assert.deepEqual([first.status, second.status], [409, 409])
  assert.deepEqual(second.body, first.body)
})

test('the same key with another body is 409', async () => {
  const key = newId()
  await make(key, `a-${key}`)
  const { status, body } = await make(key, `b-${key}`)
  assert.deepEqual([status, body.error.code], [409, 'idempotency_key_reused'])
})

test('the same key of another person is another key', async () => {
  const key = newId()
  await make(key, `mine-${key}`)
  const ben = await service.signIn('ben', ['admins'])
  assert.equal((await make(key, `his-${key}`, ben)).status, 200)
})

test('of ten at once exactly one runs', async () => {
  const key = newId()
  const replies = await Promise.all(Array.from({ length: 10 }, () => make(key, `race-${key}`)))
  const ran = replies.filter(({ status, headers }) => status === 200 && !headers['idempotent-replayed'])
  assert.equal(ran.length, 1)
  for (const { status, body } of replies) {
    assert.ok(status === 200 || body.error.code === 'idempotency_in_progress', JSON.stringify(body))
  }
})

test('a request that died with its process is never run again', async () => {
  const key = newId()
  await make(key, `dead-${key}`)
  await service.process.system`
    update idempotency_keys set status = null, sealed_body = null, replica_id = ${newId()} where key = ${key}`
  const { status, body } = await make(key, `dead-${key}`)
  assert.deepEqual([status, body.error.code], [409, 'idempotency_outcome_unknown'])
})

test('what was done is answered though it cannot be noted, is not done twice, and is noted as soon as that can be', async () => {
  const key = newId()
  const mend = await failing(service.databaseUrl, 'idempotency_keys', 'update')
  const first = await make(key, `late-${key}`)
  const meanwhile = await make(key, `late-${key}`)
  await mend()
  assert.equal(first.status, 200)
  assert.equal(meanwhile.body.error.code, 'idempotency_in_progress')
  await until('a repeat gets the first answer', async () => {
    const { body } = await make(key, `late-${key}`)
    return body.id === first.body.id
  })
})

test('kept answers are sealed, and a bad key is 400', async () => {
  const key = newId()
  await make(key, `sealed-${key}`)
  const [row] = await service.process.system<
    { sealed_body: string }[]
  >`select sealed_body from idempotency_keys where key = ${key}`
  assert.doesNotMatch(row!.sealed_body, /sealed-/)
  assert.equal((await make('with space', 'x')).status, 400)
})

test('what is noted late for one request does not touch the key of the next', async () => {
  const { system } = service.process
  const grant = { tenantId: 'acme', userId: 'ana' } as Grant
  const take = () => takeKey(system, grant, { key: 'again', operation: 'o', hash: 'h', replicaId: newId() })
  const first = (await take()) as string
  await releaseKey(system, grant, 'again', first)
  const second = await take()
  assert.equal(typeof second, 'string')
  await releaseKey(system, grant, 'again', first)
  await keepAnswer(system, grant, 'again', first, 200, 'the answer to the first')
  const third = await take()
  assert.ok(typeof third === 'object' && third.status === undefined, 'the second still holds it, unanswered')
})

test('the same key in another space is another request', async () => {
  const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'second', description: '' })
  const ana = await service.signIn('ana', ['admins'])
  const inSpace = (id: string) =>
    ana.call('POST', '/v1/data-models', { name: 'same' }, { 'idempotency-key': 'spaces', space: id })
  assert.equal((await inSpace(space)).status, 200)
  assert.equal((await inSpace(other.id)).body.error.code, 'idempotency_key_reused')
  assert.equal((await inSpace(space)).headers['idempotent-replayed'], 'true')
})
