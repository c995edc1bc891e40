// Records as texts of fields, and those texts as rows again: Postgres takes them apart for a fraction of what JSON costs it.
import { toStorableJson, toStorableText } from '../base/storable.ts'
import type { Sql } from './sql.ts'

type ColumnType = 'text' | 'uuid' | 'timestamptz' | 'int' | 'boolean' | 'text[]' | 'json'
type Columns = Readonly<Record<string, ColumnType>>

export interface RecordFormat {
  /** By the names of the columns; what has no value becomes null. */
  textOf(record: object): string
  /** The rows behind texts, as something to select from, with the names and types of the columns. */
  rows(sql: Sql, texts: readonly string[]): ReturnType<Sql>
}

/** Control characters that JSON escapes and nobody writes. */
const FIELD_END = '\x1f'
const ROW_END = '\x1e'
const NULL = '\x1d'
const MARK = new RegExp(`[${FIELD_END}${ROW_END}${NULL}]`, 'g')
const MARK_OR_NUL = new RegExp(`[${FIELD_END}${ROW_END}${NULL}\0]`)

export const joinRecords = (texts: readonly string[]): string => texts.join(ROW_END)

export const splitRecords = (text: string): string[] => (text === '' ? [] : text.split(ROW_END))

export function recordFormat(columns: Columns): RecordFormat {
  const list = Object.entries(columns)
  const fields = list.map(([name, type], index) => `f[${index + 1}]::${type} as ${name}`).join(', ')
  return {
    textOf(record) {
      const values = record as Record<string, unknown>
      return list.map(([name, type]) => fieldOf(values[name], type)).join(FIELD_END)
    },
    // Without `offset 0` each line would be split again for each of its fields.
    rows: (sql, texts) =>
      sql`(
      select ${sql.unsafe(fields)} from (
        select string_to_array(line, e'\\x1f', e'\\x1d') as f
        from string_to_table(${joinRecords(texts)}::text, e'\\x1e') as line offset 0
      ) as lines)` as ReturnType<Sql>,
  }
}

function fieldOf(value: unknown, type: ColumnType): string {
  if (value === undefined || value === null) return NULL
  if (type === 'text') return plain(value as string)
  if (type === 'json') return toStorableJson(value as object)
  if (type === 'text[]') return `{${(value as readonly string[]).map(quoted).join(',')}}`
  return String(value)
}

const quoted = (item: string): string => `"${plain(item).replace(/["\\]/g, '\\$&')}"`

/** Our own marks mean nothing in a name or a message, and would tear it apart here; the rest could not be stored. */
const plain = (text: string): string =>
  MARK_OR_NUL.test(text) || !text.isWellFormed() ? toStorableText(text).replaceAll(MARK, ' ') : text
