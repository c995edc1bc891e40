// Both kinds of list (contract 4.0): newest first, one row more than asked for tells whether there is more.
import { isId } from '../base/ids.ts'
import { Problem } from '../base/problem.ts'
import type { Sql } from './sql.ts'

/** The rows after a cursor: ids grow with time, so older rows have smaller ids. The cursor's own row need not exist. */
export function olderThan(sql: Sql, column: string, after: string) {
  if (after === '') return sql`true`
  if (!isId(after))
    throw new Problem('invalid_cursor', 'after must be the id of an item of this list', { param: 'after' })
  return sql`${sql(column)} < ${after}`
}

export const cut = <Row>(rows: Row[], limit: number, count: number) => ({
  count,
  data: rows.length > limit ? rows.slice(0, limit) : rows,
  has_more: rows.length > limit,
})
