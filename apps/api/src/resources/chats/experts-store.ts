// The experts that a router may choose from.
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Expert } from '../../inference/expert.ts'
import type { Sql } from '../../storage/sql.ts'

/** Those that are named, in that order; all of the space where none is. */
export async function readExperts(sql: Sql, grant: SpaceGrant, ids: readonly string[] | undefined): Promise<Expert[]> {
  const wanted = ids && ids.length > 0 ? [...new Set(ids)] : undefined
  const rows = await sql<Expert[]>`
    select id, name, description, context, file_context, tools from experts
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}
      ${wanted ? sql`and id = any(${wanted.filter(isId)}::uuid[])` : sql``}
    order by id`
  if (!wanted) return rows as Expert[]
  const known = new Map(rows.map((row) => [row.id, row as Expert]))
  return wanted.map((id) => {
    const expert = known.get(id)
    if (!expert)
      throw new Problem('invalid_reference', `There is no expert ${id} in this space`, { param: 'expert_ids' })
    return expert
  })
}
