// The audit log (contract 5.4): what is entered, who sees which entries, and that they stay.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
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

interface Entry {
  readonly action: string
  readonly resource_id?: string
  readonly spaces: string[]
}

const aSpace = async (): Promise<string> =>
  (await admin.call('POST', '/v1/spaces', { name: 'another', description: '' })).body.id
const auditorOf = async (name: string, spaces: string[]): Promise<Person> => {
  await admin.call('POST', '/v1/seats', { name, spaces, permissions: ['audit:list'] })
  return service.signIn(name, [name])
}
const read = async (who: Person): Promise<{ count: number; data: Entry[] }> =>
  (await who.call('GET', '/v1/audit?limit=1000')).body

test('a change is entered with who, where, before and after', async () => {
  const { body: seat } = await admin.call('POST', '/v1/seats', {
    name: 'audited',
    spaces: [space],
    permissions: ['a:b'],
  })
  await admin.call('PUT', `/v1/seats/${seat.id}`, { permissions: [] }, { 'x-request-id': 'the-update' })
  const { body } = await admin.call('GET', '/v1/audit?limit=1')
  const [entry] = body.data
  assert.deepEqual(
    [entry.actor, entry.action, entry.outcome, entry.resource_id, entry.spaces, entry.request_id],
    ['ana', 'seats.update', 'done', seat.id, [space], 'the-update'],
  )
  assert.deepEqual([entry.before.permissions, entry.after.permissions], [['a:b'], []])
})

test('a refusal is entered too', async () => {
  const nobody = await service.bearing('nobody', [])
  await nobody.call('GET', `/v1/spaces/${space}/data-models`)
  await until('the refusal is in the log', async () => {
    const { body } = await admin.call('GET', '/v1/audit')
    return body.data.some(
      (entry: { actor: string; outcome: string }) => entry.actor === 'nobody' && entry.outcome === 'denied',
    )
  })
})

test('who may read it in one space sees that space’s entries and no others', async () => {
  const { body: other } = await admin.call('POST', '/v1/spaces', { name: 'other', description: '' })
  await admin.call('POST', '/v1/seats', { name: 'auditors', spaces: [other.id], permissions: ['audit:list'] })
  const auditor = await service.signIn('aud', ['auditors'])
  const { body } = await auditor.call('GET', '/v1/audit?limit=1000')
  assert.ok(body.count >= 2)
  for (const { spaces } of body.data) assert.deepEqual(spaces, [other.id])
})

test('the log only grows, even for the owner of the table', async () => {
  await assert.rejects(service.process.system`delete from audit`, /permission denied|only grows/)
  await assert.rejects(service.process.system`update audit set actor = 'x'`, /permission denied|only grows/)
})

describe('when a space is deleted', () => {
  test('who may read the log in every space that is left still sees all that happened in it', async () => {
    const gone = await aSpace()
    await admin.call('POST', '/v1/seats', { name: 'short-lived', spaces: [gone], permissions: [] })
    assert.equal((await admin.call('DELETE', `/v1/spaces/${gone}`)).status, 204)
    const { count, data } = await read(admin)
    const actions = data.filter(({ spaces }) => spaces.includes(gone)).map(({ action }) => action)
    assert.deepEqual(actions, ['spaces.delete', 'seats.create', 'spaces.create'])
    assert.equal(count, data.length)
  })

  test('who may read it in some of them sees those as before, and nothing of the deleted one', async () => {
    const [kept, gone] = [await aSpace(), await aSpace()]
    const auditor = await auditorOf('some', [kept, gone])
    await admin.call('DELETE', `/v1/spaces/${gone}`)
    const { count, data } = await read(auditor)
    assert.equal(count, data.length)
    assert.ok(count >= 2)
    for (const { spaces } of data) assert.ok(spaces.includes(kept))
  })
})

test('the count follows the log, each tenant’s for itself', async () => {
  const before = (await read(admin)).count
  await admin.call('POST', '/v1/seats', { name: 'one more', spaces: [space], permissions: [] })
  await service.process.system`
    insert into audit (tenant_id, id, actor, action, outcome, resource, spaces)
    values ('elsewhere', gen_random_uuid(), 'eve', 'auth.login', 'done', 'auth', '{}')`
  const { count, data } = await read(admin)
  assert.deepEqual([count, data.length], [before + 1, before + 1])
})

test('a refusal is entered whatever else is refused beside it, and wherever it is made', async () => {
  const { body: seat } = await admin.call('POST', '/v1/seats', {
    name: 'makers',
    spaces: [space],
    permissions: ['seats:create'],
  })
  assert.ok(seat.id)
  const maker = await service.signIn('mia', ['makers'])
  await maker.call('GET', `/v1/spaces/${space}/actions`)
  await maker.call('GET', `/v1/spaces/${'-'.repeat(36)}/actions`)
  const more = { name: 'more', spaces: [space], permissions: ['*'] }
  assert.equal((await maker.call('POST', '/v1/seats', more)).body.error.code, 'escalation')
  const ofMia = async () => {
    const { body } = await admin.call('GET', '/v1/audit?limit=1000')
    const denied = body.data.filter(
      ({ actor, outcome }: Record<string, string>) => actor === 'mia' && outcome === 'denied',
    )
    return denied.map(({ action }: { action: string }) => action).sort()
  }
  await until('they are entered', async () => (await ofMia()).length === 3)
  assert.deepEqual(await ofMia(), ['actions.list', 'actions.list', 'seats.create'])
})
