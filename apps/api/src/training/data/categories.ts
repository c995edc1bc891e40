// The categories of text columns: which values they hold, learned from all files in one pass.
import { DataProblem } from '../data-problem.ts'
import type { Dataset } from './dataset.ts'
import { readFault } from './faults.ts'

export const CATEGORIES_MAX = 1000
const GROUPED_AT_ONCE = 32

/** The most frequent values of each text column, in alphabetical order; rarer ones count as missing. */
export async function categoriesOf(dataset: Dataset, names: readonly string[]): Promise<Map<string, string[]>> {
  const categories = new Map<string, string[]>(names.map((name) => [name, []]))
  for (let at = 0; at < names.length; at += GROUPED_AT_ONCE) {
    const some = names.slice(at, at + GROUPED_AT_ONCE)
    const found = await dataset.database.rows(mostFrequent(dataset, some)).catch((error) => {
      throw readFault(dataset.files[0]!.source, error)
    })
    for (const [position, value] of found) {
      const name = some[Number(position)]!
      // The engine reads its statements as C does, so no category can be told to it beyond such a character.
      if (String(value).includes('\0')) throw new DataProblem(`The column ${name} holds a NUL character in its text.`)
      categories.get(name)!.push(String(value))
    }
  }
  for (const values of categories.values()) values.sort()
  return categories
}

// One pass over the files serves many columns: each grouping set keeps a single column and leaves the rest null.
function mostFrequent({ files }: Dataset, names: readonly string[]): string {
  const columns = names.map((_, position) => `t${position}`)
  const parts = files.map(({ source }) => {
    const values = names.map((name, position) => {
      const column = source.columns.find((candidate) => candidate.name === name)!
      return `${column.text} AS t${position}`
    })
    return `SELECT ${values.join(', ')} FROM ${source.from}`
  })
  const position = `CASE ${columns.map((column, at) => `WHEN GROUPING(${column}) = 0 THEN ${at}`).join(' ')} END`
  const sets = columns.map((column) => `(${column})`).join(', ')
  return `
    SELECT position, value FROM (
      SELECT ${position} AS position, coalesce(${columns.join(', ')}, NULL) AS value, count(*) AS count
      FROM (${parts.join(' UNION ALL ')}) GROUP BY GROUPING SETS (${sets})
    ) WHERE value IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY position ORDER BY count DESC, value) <= ${CATEGORIES_MAX}`
}
