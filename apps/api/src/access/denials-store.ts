// The audit rows of refusals, many at a time.
import type { Sql } from '../storage/sql.ts'

export interface Denial {
  readonly tenant_id: string
  readonly id: string
  readonly actor: string
  readonly action: string
  readonly resource: string
  readonly spaces: string[]
  readonly after: object
  readonly request_id: string
}

export async function insertDenials(sql: Sql, denials: readonly Denial[]): Promise<void> {
  const rows = denials.map((denial) => ({ ...denial, outcome: 'denied', after: sql.json(denial.after as never) }))
  await sql`insert into audit ${sql(rows as never)}`
}
