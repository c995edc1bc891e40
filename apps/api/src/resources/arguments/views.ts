// Rows of arguments as clients see them.
import type { ArgumentRow } from './arguments-store.ts'
import type { Argument } from './shapes.ts'

export function toArgumentView({ space_id: space, review_status: status, ...row }: ArgumentRow): Argument {
  const { original_argument_score, reviewed_argument, reviewed_at, reviewed_by, ...rest } = row
  const review = {
    status,
    ...(original_argument_score !== undefined && { original_argument_score }),
    ...(reviewed_argument !== undefined && { reviewed_argument }),
    ...(reviewed_at !== undefined && { reviewed_at }),
    ...(reviewed_by !== undefined && { reviewed_by }),
  }
  return { ...rest, _id: row.id, review, space }
}
