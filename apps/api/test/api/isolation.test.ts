// The second wall: what hand-written SQL under the application's role can reach of another tenant. Nothing.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { admit } from '../../src/access/authorize.ts'
import { buildApp } from '../../src/app.ts'
import { newId } from '../../src/base/ids.ts'
import { startServices } from '../../src/services.ts'
import { type Client, connect, type Sql } from '../../src/storage/sql.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let app: Client
let tables: string[]
const TENANTS = [
  { tenant_id: 'acme', name: 'Acme' },
  { tenant_id: 'rival', name: 'Rival' },
]

before(async () => {
  const { mkdtempSync, writeFileSync } = await import('node:fs')
  const file = `${mkdtempSync('/tmp/amphi-tenants-')}/tenants.json`
  writeFileSync(file, JSON.stringify(TENANTS))
  service = await startService({ env: { TENANTS_FILE: file } })
  app = connect(service.databaseUrl, { max: 1, role: 'amphi_app' })
  const rows = await service.process.system<{ name: string }[]>`
    select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'`
  tables = rows.map(({ name }) => name).filter((name) => name !== 'authz_change')
})
after(async () => {
  await app.end()
  await service.close()
})

const aGrant = (tenantId: string) => {
  const nobody = {
    email: undefined,
    name: undefined,
    loginId: '',
    expiresAt: 0,
    seatNames: [],
    namesBySpace: undefined,
  }
  return admit({ tenantId, userId: 'u', sso: true, ...nobody }, 'r')
}

const asTenant = (tenantId: string) => app`select set_config('amphi.tenant_id', ${tenantId}, false)`

test('every table that knows tenants is fenced, for its owner too, or closed to the application’s role', async () => {
  const rows = await service.process.system<{ name: string; fenced: boolean }[]>`
    select relname as name, relrowsecurity and relforcerowsecurity
      or not has_table_privilege('amphi_app', oid, 'select, insert, update, delete') as fenced from pg_class where relname = any(${tables})`
  assert.ok(rows.length >= 10)
  for (const { name, fenced } of rows) assert.ok(fenced, `${name} is not fenced`)
})

test('the application’s role owns nothing, and cannot change structure or step out of its fence', async () => {
  const owned = await service.process.system`select relname from pg_class where relowner = 'amphi_app'::regrole`
  assert.equal(owned.length, 0)
  await assert.rejects(app`drop table seats`, /must be owner/)
  await assert.rejects(app`alter table seats disable row level security`, /must be owner/)
  await assert.rejects(app`create table mine (a int)`, /permission denied/)
})

test('a session that names no tenant gets an error, not an empty answer', async () => {
  const bare = connect(service.databaseUrl, { max: 1, role: 'amphi_app' })
  await assert.rejects(bare`select * from seats`, /unrecognized configuration parameter/)
  await bare.end()
})

test('a tenant reads, changes and deletes no row of another one', async () => {
  await asTenant('acme')
  for (const table of tables) {
    const rows = await app<
      { tenant_id: string }[]
    >`select tenant_id from ${app(table)} where tenant_id <> 'acme'`.catch((error) => {
      assert.match(error.message, /permission denied/, table)
      return []
    })
    assert.equal(rows.length, 0, table)
  }
  assert.equal((await app`select * from seats`).length, 1)
  assert.equal((await app`update seats set name = 'stolen' where tenant_id = 'rival'`).count, 0)
  assert.equal((await app`delete from seats where tenant_id = 'rival'`).count, 0)
})

test('a tenant writes no row into another one, and moves none there', async () => {
  await asTenant('acme')
  const forged = app`
    insert into seats (tenant_id, id, name, permissions, created_by) values ('rival', ${newId()}, 'x', '{*}', 'eve')`
  await assert.rejects(forged, /row-level security/)
  await assert.rejects(app`update spaces set tenant_id = 'rival'`, /row-level security/)
})

test('not even the system’s role can tie a seat of one tenant to a space of another', async () => {
  const { system } = service.process
  const foreign = await service.firstSpace('rival')
  const [seat] = await system<{ id: string }[]>`select id from seats where tenant_id = 'acme'`
  for (const tenantId of ['acme', 'rival']) {
    await assert.rejects(
      system`insert into seat_spaces (tenant_id, seat_id, space_id, position) values (${tenantId}, ${seat!.id}, ${foreign}, 9)`,
      /seat_spaces_(seat|space)_fk/,
    )
  }
})

test('lanes handed from tenant to tenant never mix them, whatever the order', async () => {
  const { db } = service.process.services
  const look = async (sql: Sql) =>
    (await sql<{ tenant_id: string }[]>`select tenant_id from seats`).map((row) => row.tenant_id)
  await Promise.all(
    Array.from({ length: 400 }, async (_, i) => {
      const tenantId = i % 3 === 0 ? 'rival' : 'acme'
      const read =
        i % 5 === 0
          ? db.begin(aGrant(tenantId), look)
          : db.as(aGrant(tenantId), async (sql) => [...(await look(sql)), ...(await look(sql))])
      for (const seen of await read) assert.equal(seen, tenantId)
    }),
  )
})

test('a lane that lost its session says so instead of answering from nothing', async () => {
  const { db } = service.process.services
  const owner = connect(service.databaseUrl, { max: 1 })
  const grant = aGrant('acme')
  const work = db.as(grant, async (sql) => {
    const [me] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
    await owner`select pg_terminate_backend(${me!.pid})`
    await new Promise((resolve) => setTimeout(resolve, 50))
    return sql`select * from seats`
  })
  await assert.rejects(work, { code: 'database_unavailable' })
  await owner.end()
  assert.equal((await db.as(grant, (sql) => sql`select * from seats`)).length, 1)
})

test('a transaction whose connection is lost is refused, and neither the process nor the lane suffers', async () => {
  const { db } = service.process.services
  const owner = connect(service.databaseUrl, { max: 1 })
  const grant = aGrant('acme')
  for (let round = 0; round < 10; round++) {
    const work = db.begin(grant, async (sql) => {
      const [me] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
      await sql`update spaces set description = 'half done'`
      await owner`select pg_terminate_backend(${me!.pid})`
      await sql`update spaces set name = ${'x'.repeat(5000)}`
    })
    await assert.rejects(work, { code: 'database_unavailable' })
  }
  await owner.end()
  const [space] = await db.begin(grant, (sql) => sql<{ description: string }[]>`select description from spaces`)
  assert.notEqual(space!.description, 'half done')
})

test('a seat of the same name in another tenant grants nothing', async () => {
  const space = await service.firstSpace()
  const admin = await service.signIn('ana', ['admins'])
  const seat = { name: 'of-acme', spaces: [space], permissions: ['*'] }
  assert.equal((await admin.call('POST', '/v1/seats', seat)).status, 200)
  const stranger = await service.bearing('eve', [`${space}:of-acme`], 'rival')
  assert.equal((await stranger.call('GET', `/v1/spaces/${space}/data-models`)).status, 403)
  assert.equal((await stranger.call('GET', '/v1/seats')).status, 403)
})

test('a tenant that the operator takes off the list is let in no more, with whatever it still holds', async () => {
  const rival = await service.signIn('ana', ['admins'], 'rival')
  assert.equal((await rival.call('GET', '/v1/spaces')).status, 200)
  const log = pino({ level: 'silent' })
  const config = { ...service.config, tenants: service.config.tenants.filter(({ tenantId }) => tenantId === 'acme') }
  const running = await startServices(config, log)
  const after = await buildApp(config, log, running)
  const headers = { authorization: `Bearer ${rival.token}` }
  const reply = await after.inject({ method: 'GET', url: '/v1/spaces', headers })
  await after.close()
  await running.close()
  assert.equal(reply.statusCode, 401)
  assert.match(reply.json().error.message, /not served here any more/)
})
