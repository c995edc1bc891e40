// The rows of the signing keys, newest first.
import type { JWK } from 'jose'
import type { Sql } from '../storage/sql.ts'

export interface KeyRow {
  readonly id: string
  readonly public_jwk: JWK
  readonly sealed_private_jwk: string
  readonly created_at: string
}

export const readKeys = (sql: Sql) => sql<KeyRow[]>`select * from signing_keys order by created_at desc, id`

export async function insertKey(sql: Sql, row: Omit<KeyRow, 'created_at'>): Promise<void> {
  await sql`
    insert into signing_keys (id, public_jwk, sealed_private_jwk)
    values (${row.id}, ${sql.json(row.public_jwk as never)}, ${row.sealed_private_jwk})`
}

/** The newest key is never dropped, however old: without it nothing could be signed. */
export async function dropKeys(sql: Sql, olderThan: Date): Promise<void> {
  await sql`
    delete from signing_keys
    where created_at < ${olderThan.toISOString()} and created_at < (select max(created_at) from signing_keys)`
}
