// Says which of the records that a request names the space does not have.
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Sql } from '../../storage/sql.ts'

const NOUNS = { data_models: 'data model', benchmarks: 'benchmark', checkpoints: 'checkpoint' } as const

export async function assertReferences(
  sql: Sql,
  grant: SpaceGrant,
  table: keyof typeof NOUNS,
  ids: readonly string[],
  param: string,
): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(table)}
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = any(${ids.filter(isId)}::uuid[])`
  const known = new Set(rows.map(({ id }) => id))
  const missing = ids.find((id) => !known.has(id))
  if (missing === undefined) return
  throw new Problem('invalid_reference', `There is no ${NOUNS[table]} ${missing}`, { param })
}
