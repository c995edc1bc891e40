// Brings the database's structure up to date: forward only, each file once, one process at a time.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { CannotStart } from '../base/cannot-start.ts'
import { connect } from './sql.ts'

const FOLDER = new URL('../../migrations/', import.meta.url)
/** Any number that nothing else in this database locks. */
const MIGRATION_LOCK = 7_301_001

export async function migrate(url: string): Promise<void> {
  const client = connect(url, { max: 1, statementTimeoutMs: 0 })
  try {
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`
    await client`
      create table if not exists schema_migrations (
        name text primary key, sha256 text not null, applied_at timestamptz not null default now()
      )`
    const applied = new Map<string, string>()
    for (const { name, sha256 } of await client<{ name: string; sha256: string }[]>`select * from schema_migrations`) {
      applied.set(name, sha256)
    }
    for (const { name, sha256, text } of await migrations()) {
      const known = applied.get(name)
      if (known === sha256) continue
      if (known) throw new CannotStart(`Migration ${name} was changed after it had been applied; add a new one instead`)
      await client.begin(async (tx) => {
        await tx.unsafe(text)
        await tx`insert into schema_migrations (name, sha256) values (${name}, ${sha256})`
      })
    }
  } finally {
    await client.end({ timeout: 5 })
  }
}

async function migrations() {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, FOLDER), 'utf8')
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
    }),
  )
}
