// The embedded server keeps what it acknowledged through restarts and kills, and serves one service at a time.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { type EmbeddedPostgres, type EmbeddedPostgresOptions, startPostgres } from '../src/storage/embedded-postgres.ts'
import {
  hasEnded,
  killSupervisor,
  query,
  START_AND_STOP,
  startService,
  until,
  WRITE_FOREVER,
} from './support/postgres-services.ts'

const root = fs.mkdtempSync(join(tmpdir(), 'embedded-postgres-'))
const template = join(root, 'template')

before(async () => {
  const server = await startPostgres({ dataDir: template })
  await query(server.url, 'create table notes (id int primary key)')
  await server.stop()
})
after(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

function aFolder(): string {
  const dataDir = fs.mkdtempSync(join(root, 'data-'))
  fs.cpSync(template, dataDir, { recursive: true })
  return dataDir
}

const notes = async ({ url }: EmbeddedPostgres) =>
  (await query(url, 'select id from notes order by id')).map(({ id }) => id)

async function start(t: TestContext, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const server = await startPostgres(options)
  t.after(() => server.stop())
  return server
}

test('the first start makes a database that checks and syncs its pages', async (t) => {
  const dataDir = join(root, 'first')
  const server = await start(t, { dataDir })
  const settings = await query(
    server.url,
    `select name, setting from pg_settings where name in ('data_checksums', 'fsync', 'full_page_writes') order by name`,
  )
  assert.deepEqual(
    settings.map(({ name, setting }) => `${name} ${setting}`),
    ['data_checksums on', 'fsync on', 'full_page_writes on'],
  )
  assert.equal((await query(server.url, `select upper('ä') as upper`))[0]!['upper'], 'Ä')
  await server.stop()
  assert.deepEqual(fs.readdirSync(dataDir).sort(), ['lock', 'postgres'])
})

test('rows are there again after a restart', async (t) => {
  const dataDir = aFolder()
  const first = await start(t, { dataDir })
  await query(first.url, 'insert into notes values (7)')
  await first.stop()
  assert.ok(hasEnded(first.pid))
  const second = await start(t, { dataDir })
  assert.deepEqual(await notes(second), [7])
})

test('the address leads another process to another database of the same server', async (t) => {
  const server = await start(t, { dataDir: aFolder() })
  await query(server.url, 'create database other')
  const other = new URL(server.url)
  other.pathname = '/other'
  const program = `const client = postgres('${other}')
    console.log((await client\`select current_database() as name\`)[0].name)
    await client.end()`
  const client = startService(program, '', { env: { PGPORT: '1', PGHOST: '/nowhere' } })
  assert.equal(await client.line(), 'other')
})

test('settings take the place of ours', async (t) => {
  const server = await start(t, { dataDir: aFolder(), settings: { fsync: 'off', max_connections: 20 } })
  assert.deepEqual(await query(server.url, 'show fsync'), [{ fsync: 'off' }])
  assert.deepEqual(await query(server.url, 'show max_connections'), [{ max_connections: '20' }])
})

test('the log tells of the server but not of the statements that fail', async (t) => {
  const lines: string[] = []
  const server = await start(t, { dataDir: aFolder(), log: (line) => lines.push(line) })
  await query(server.url, 'insert into notes values (1)')
  await assert.rejects(query(server.url, 'insert into notes values (1)'), /duplicate key/)
  await assert.rejects(query(server.url, `do $$ begin raise 'two\nlines'; end $$`), /two/)
  await server.stop()
  assert.ok(lines.some((line) => line.includes('ready to accept connections')))
  assert.deepEqual(
    lines.filter((line) => /client backend|duplicate|lines/.test(line)),
    [],
  )
})

test('a service killed while it writes takes its server along and loses no acknowledged row', async (t) => {
  const dataDir = aFolder()
  const service = startService(WRITE_FOREVER, dataDir)
  const pid = Number(await service.line())
  let acknowledged = 0
  while (acknowledged < 200) acknowledged = Number(await service.line())
  service.process.kill('SIGKILL')
  for await (const line of service.lines) acknowledged = Number(line)
  await until(() => hasEnded(pid), 3_000)
  const server = await start(t, { dataDir })
  const kept = await notes(server)
  await server.stop()
  assert.deepEqual(
    kept.slice(0, acknowledged),
    Array.from({ length: acknowledged }, (_, index) => index + 1),
  )
})

test('a service started at once after another was killed is up within two seconds', async (t) => {
  const dataDir = aFolder()
  const service = startService(WRITE_FOREVER, dataDir)
  await service.line()
  await service.line()
  service.process.kill('SIGKILL')
  await once(service.process, 'exit')
  const began = performance.now()
  const server = await start(t, { dataDir })
  assert.ok(performance.now() - began < 2_000)
  assert.equal((await notes(server))[0], 1)
})

test('a server that lost its service and its supervisor is ended by the next start', async (t) => {
  const dataDir = aFolder()
  const service = startService(WRITE_FOREVER, dataDir)
  const pid = Number(await service.line())
  await service.line()
  const runFolder = fs.readlinkSync(join(dataDir, 'run'))
  killSupervisor(pid)
  service.process.kill('SIGKILL')
  await once(service.process, 'exit')
  assert.ok(!hasEnded(pid))
  const server = await start(t, { dataDir })
  assert.ok(hasEnded(pid))
  assert.ok(!fs.existsSync(runFolder))
  assert.equal((await notes(server))[0], 1)
})

test('a server whose supervisor is killed goes on, and stops when asked to', async (t) => {
  const server = await start(t, { dataDir: aFolder() })
  const supervisor = killSupervisor(server.pid)
  await until(() => hasEnded(supervisor), 2_000)
  assert.deepEqual(await notes(server), [])
  await server.stop()
  assert.ok(hasEnded(server.pid))
})

test('a server that dies says so, and the next start recovers it', async (t) => {
  const dataDir = aFolder()
  const first = await start(t, { dataDir })
  await query(first.url, 'insert into notes values (1)')
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  const second = await start(t, { dataDir })
  assert.deepEqual(await notes(second), [1])
})

test('a second service on the same folder is refused and harms nothing', async (t) => {
  const dataDir = aFolder()
  const server = await start(t, { dataDir })
  assert.match(
    await startService(START_AND_STOP, dataDir).line(),
    /Cannot use the data folder .*: another process uses it/,
  )
  await assert.rejects(startPostgres({ dataDir }), /another process uses it/)
  assert.deepEqual(await notes(server), [])
})

test('a copy of the folder of a running server leaves that server its sockets', async (t) => {
  const dataDir = aFolder()
  const server = await start(t, { dataDir })
  const copy = aFolder()
  fs.symlinkSync(fs.readlinkSync(join(dataDir, 'run')), join(copy, 'run'))
  await (await start(t, { dataDir: copy })).stop()
  assert.deepEqual(await notes(server), [])
})

test('a process that stops its server can end', async () => {
  const service = startService(START_AND_STOP, aFolder())
  assert.equal(await service.line(), 'done')
  await until(() => service.process.exitCode === 0, 2_000)
})
