// The rows of arguments.
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import { spaceTable } from '../../storage/space-table.ts'
import type { Sql } from '../../storage/sql.ts'
import type { ReviewColumns } from './review.ts'
import type { Argument, ArgumentFilter } from './shapes.ts'

export interface ArgumentRow extends Omit<Argument, '_id' | 'space' | 'review' | 'deleted_at'>, ReviewColumns {
  space_id: string
}

/** What is known about clients, and what is written to them, stays out of the audit log; how a review went does not. */
const SECRETS = ['client', 'argument', 'argument_thinking', 'reviewed_argument']

export const argumentTable = spaceTable<ArgumentRow>('arguments', 'argument', {
  secrets: SECRETS,
  conflicts: { arguments_action_fk: 'The action was deleted meanwhile' },
})

const mine = (sql: Sql, grant: SpaceGrant) => sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}`

export async function listArguments(
  sql: Sql,
  grant: SpaceGrant,
  { status, action_id, page, page_size }: ArgumentFilter,
): Promise<ArgumentRow[]> {
  if (action_id !== undefined && !isId(action_id)) return []
  return sql<ArgumentRow[]>`
    select * from arguments where ${mine(sql, grant)}
      ${status === undefined ? sql`` : sql`and review_status = ${status}`}
      ${action_id === undefined ? sql`` : sql`and action_id = ${action_id}`}
    order by id desc limit ${page_size} offset ${(page - 1) * page_size}`
}

/** Locked until the transaction ends, so that two reviewers cannot both take the same step. */
export async function lockReview(sql: Sql, grant: SpaceGrant, id: string): Promise<ReviewColumns> {
  const [review] = await sql<ReviewColumns[]>`
    select review_status, original_argument_score, reviewed_argument, reviewed_at, reviewed_by
    from arguments where ${mine(sql, grant)} and id = ${id} for update`
  if (!review) throw new Problem('not_found', 'No such argument')
  return review
}
