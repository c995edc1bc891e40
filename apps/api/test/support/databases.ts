// Databases for tests: one Postgres, one migrated template, and a clone of it for whoever asks.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../src/base/ids.ts'
import { startPostgres } from '../../src/storage/embedded-postgres.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { connect } from '../../src/storage/sql.ts'

const TEMPLATE = 'amphi_template'

export interface TestPostgres {
  readonly url: string
  stop(): Promise<void>
}

/** A server whose data may be lost, which makes it quick, with the template in it. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'amphi-test-'))
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }
  const server = await startPostgres({ dataDir, settings })
  const admin = connect(server.url, { max: 1 })
  await admin.unsafe(`create database ${TEMPLATE}`)
  await admin.end()
  await migrate(withDatabase(server.url, TEMPLATE))
  return {
    url: server.url,
    async stop() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

let own: { server: Promise<TestPostgres>; clones: number } | undefined

/** The server the test runner started, or one of this process's own when a file is run by itself. */
async function enterServer(): Promise<string> {
  const given = process.env['AMPHI_TEST_POSTGRES']
  if (given) return given
  own ??= { server: startTestPostgres(), clones: 0 }
  own.clones++
  return (await own.server).url
}

async function leaveServer(): Promise<void> {
  if (!own || --own.clones > 0) return
  const { server } = own
  own = undefined
  await (await server).stop()
}

/** `template0` gives an empty one. */
export async function cloneDatabase(template = TEMPLATE): Promise<{ url: string; drop(): Promise<void> }> {
  const server = await enterServer()
  const name = `test_${newId().replaceAll('-', '')}`
  const admin = connect(server, { max: 1 })
  // Cloning needs the template to itself for a moment; two clones at once take turns.
  await admin`select pg_advisory_lock(1)`
  await admin.unsafe(`create database ${name} template ${template}`)
  await admin`select pg_advisory_unlock(1)`
  await admin.end()
  return {
    url: withDatabase(server, name),
    async drop() {
      const again = connect(server, { max: 1 })
      await again.unsafe(`drop database ${name} with (force)`)
      await again.end()
      await leaveServer()
    },
  }
}

function withDatabase(url: string, name: string): string {
  const parsed = new URL(url)
  parsed.pathname = `/${name}`
  return parsed.toString()
}
