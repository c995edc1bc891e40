// Spaces, invitations and the signed-in person (contract 2.19, 2.21, 4.2).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SMTPServer } from 'smtp-server'
import { newId } from '../../src/base/ids.ts'
import { type Person, type Service, startService, until } from '../support/service.ts'

let service: Service
let admin: Person
let space: string
const mails: string[] = []
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData(stream, _session, done) {
    let text = ''
    stream
      .on('data', (part) => (text += part))
      .on('end', () => {
        mails.push(text)
        done()
      })
  },
})

before(async () => {
  await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
  const { port } = smtp.server.address() as { port: number }
  service = await startService({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } })
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
})
after(async () => {
  await service.close()
  await new Promise<void>((resolve) => smtp.close(() => resolve()))
})

const aSpace = async (name = 'a space') => {
  const { status, body } = await admin.call('POST', '/v1/spaces', { name, description: 'for tests' })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id as string
}

describe('spaces', () => {
  test('a created space names its maker and is reached by the maker’s seats at once', async () => {
    const { body } = await admin.call('POST', '/v1/spaces', { name: 'new', description: 'fresh' })
    assert.deepEqual(Object.keys(body).sort(), ['created_at', 'created_by', 'description', 'id', 'name'])
    assert.equal(body.created_by, 'ana')
    assert.deepEqual((await admin.call('GET', `/v1/spaces/${body.id}`)).body, body)
    const refreshed = await service.signIn('ana', ['admins'])
    assert.equal((await refreshed.call('GET', `/v1/spaces/${body.id}/data-models`)).status, 200)
  })

  test('a list shows people as objects, ten by default', async () => {
    await admin.call('PUT', '/v1/users/me', { first_name: 'Ana', last_name: 'Lima', role: 'designer' })
    for (let i = 0; i < 11; i++) await aSpace(`space ${i}`)
    const { body } = await admin.call('GET', '/v1/spaces')
    assert.equal(body.data.length, 10)
    assert.equal(body.has_more, true)
    assert.deepEqual(body.data[0].created_by, {
      id: 'ana',
      external_id: 'ana',
      email: 'ana@example.org',
      first_name: 'Ana',
      last_name: 'Lima',
      role: 'designer',
    })
    assert.equal('updated_by' in body.data[0], false)
  })

  test('an update changes what is given and is signed', async () => {
    const id = await aSpace()
    const { status, body } = await admin.call('PUT', `/v1/spaces/${id}`, { name: 'renamed' })
    assert.equal(status, 200)
    assert.deepEqual([body.name, body.description, body.updated_by], ['renamed', 'for tests', 'ana'])
  })

  test('a deleted space takes along what it owns and the seats that had no other', async () => {
    const id = await aSpace()
    await admin.call('POST', '/v1/seats', { name: 'only-there', spaces: [id], permissions: ['data-models:create'] })
    const bob = await service.signIn('bob', ['only-there'])
    assert.equal((await bob.call('POST', `/v1/spaces/${id}/data-models`, { name: 'x' })).status, 200)
    assert.equal((await admin.call('DELETE', `/v1/spaces/${id}`)).status, 204)
    assert.equal((await bob.call('POST', `/v1/spaces/${id}/data-models`, { name: 'x' })).status, 403)
    assert.equal((await admin.call('GET', `/v1/spaces/${id}`)).status, 403)
    const again = await admin.call('POST', '/v1/seats', { name: 'only-there', spaces: [space], permissions: [] })
    assert.equal(again.status, 200)
  })

  test('an unknown space is 403', async () => {
    assert.equal((await admin.call('GET', `/v1/spaces/${newId()}`)).status, 403)
  })

  test('the space that the last administrators need cannot be deleted', async () => {
    const small = await startService()
    const only = await small.signIn('ana', ['admins'])
    const { status, body } = await only.call('DELETE', `/v1/spaces/${await small.firstSpace()}`)
    assert.deepEqual([status, body.error.code], [409, 'last_admin_seat'])
    await small.close()
  })
})

describe('invitations', () => {
  const roles = ['trainings:list', 'trainings:get']
  const seatsOf = async () =>
    (await admin.call('GET', '/v1/seats?limit=1000')).body.data as { name: string; permissions: string[] }[]

  test('one seat per set of roles holds exactly those, and each new address gets a mail', async () => {
    const first = await admin.call('POST', `/v1/spaces/${space}/invitations`, {
      emails: ['Bob@Example.org', 'eve@example.org'],
      roles,
    })
    assert.deepEqual([first.status, first.body], [200, { emails: ['bob@example.org', 'eve@example.org'] }])
    const invited = (await seatsOf()).filter(({ name }) => name.startsWith('invited-'))
    assert.equal(invited.length, 1)
    assert.deepEqual(invited[0]!.permissions, [...roles].sort())
    await admin.call('POST', `/v1/spaces/${space}/invitations`, {
      emails: ['dan@example.org', 'bob@example.org'],
      roles: [...roles].reverse(),
    })
    assert.equal((await seatsOf()).filter(({ name }) => name.startsWith('invited-')).length, 1)
    await until('three mails have come', () => mails.length === 3)
    assert.match(mails.join(), /invited/)
  })

  test('a role outside the enumeration, no address and no role are 400', async () => {
    for (const body of [
      { emails: ['a@b.c'], roles: ['*'] },
      { emails: ['a@b.c'], roles: ['seats:create'] },
      { emails: [], roles },
      { emails: ['a@b.c'], roles: [] },
      { emails: ['not an address'], roles },
    ]) {
      assert.equal(
        (await admin.call('POST', `/v1/spaces/${space}/invitations`, body)).status,
        400,
        JSON.stringify(body),
      )
    }
  })

  test('who lacks a role cannot invite others to it', async () => {
    await admin.call('POST', '/v1/seats', {
      name: 'hosts',
      spaces: [space],
      permissions: ['spaces:update', 'trainings:list'],
    })
    const host = await service.signIn('hal', ['hosts'])
    const invite = (given: string[]) =>
      host.call('POST', `/v1/spaces/${space}/invitations`, { emails: ['x@example.org'], roles: given })
    assert.equal((await invite(['trainings:list'])).status, 200)
    assert.equal((await invite(['trainings:delete'])).status, 403)
  })
})

describe('the signed-in person', () => {
  test('a person sees their record, their permissions and their spaces', async () => {
    await admin.call('POST', '/v1/seats', {
      name: 'viewers',
      spaces: [space],
      permissions: ['trainings:list', 'data-models:list'],
    })
    const vic = await service.signIn('vic', ['viewers'])
    const { status, body } = await vic.call('GET', '/v1/users/me')
    assert.equal(status, 200)
    assert.deepEqual([body.id, body.external_id, body.email], ['vic', 'vic', 'vic@example.org'])
    assert.deepEqual(body.permissions, ['data-models:list', 'trainings:list'])
    assert.deepEqual(
      body.spaces.map(({ id }: { id: string }) => id),
      [space],
    )
  })

  test('an update keeps what is not given; a role describes and grants nothing', async () => {
    const vic = await service.bearing('vic', [])
    await vic.call('PUT', '/v1/users/me', { first_name: 'Vic' })
    const { body } = await vic.call('PUT', '/v1/users/me', { role: 'developer' })
    assert.deepEqual([body.first_name, body.role, body.permissions], ['Vic', 'developer', []])
    assert.equal((await vic.call('PUT', '/v1/users/me', { role: 'king' })).status, 400)
  })
})

test('of two updates at the same time both stay, of a space and of a person', async () => {
  for (let round = 0; round < 10; round++) {
    const { body } = await admin.call('POST', '/v1/spaces', { name: `space ${round}`, description: 'old' })
    const at = `/v1/spaces/${body.id}`
    const values = { name: `renamed ${round}`, description: 'new' }
    await Promise.all(Object.entries(values).map(([field, value]) => admin.call('PUT', at, { [field]: value })))
    const { name, description } = (await admin.call('GET', at)).body
    assert.deepEqual({ name, description }, values)
    const person = { first_name: `Ana ${round}`, last_name: `Costa ${round}` }
    const who = await service.bearing(`person-${round}`, [])
    await Promise.all(
      Object.entries(person).map(([field, value]) => who.call('PUT', '/v1/users/me', { [field]: value })),
    )
    const { first_name, last_name } = (await who.call('GET', '/v1/users/me')).body
    assert.deepEqual({ first_name, last_name }, person)
  }
})
