// Tables whose first row names the columns, as CSV files and worksheets are.
import { type RawRow, type RawRows, Unreadable } from './fault.ts'
import { put } from './values.ts'

export interface TableRow {
  readonly line: number
  /** Empty cells are empty texts or absent. */
  readonly cells: readonly unknown[]
}

/** Columns with a meaning of their own are known in any case; all others are kept as they are written. */
const KNOWN = ['name', 'notes', 'birthdate', 'data']
const NEEDED = ['name', 'notes', 'birthdate']
export const COLUMNS_MAX = 1000

export async function* readTable(pieces: AsyncIterable<Iterable<TableRow>>): RawRows {
  let columns: Columns | undefined
  function* named(rows: Iterable<TableRow>): Generator<RawRow> {
    for (const row of rows) {
      if (columns) yield columns.toRow(row)
      else columns = new Columns(row)
    }
  }
  for await (const rows of pieces) yield named(rows)
  if (!columns) throw new Unreadable('The file is empty')
}

class Columns {
  readonly names: readonly string[]

  constructor({ line, cells }: TableRow) {
    this.names = cells.map((cell) => toName(String(cell ?? '')))
    const { names } = this
    if (names.length > COLUMNS_MAX) throw new Unreadable(`There are more than ${COLUMNS_MAX} columns`, line)
    if (names.length === 1 && /[;\t]/.test(names[0]!)) {
      throw new Unreadable('Columns must be separated by commas', line)
    }
    if (names.some((name) => name.includes('\r'))) {
      throw new Unreadable('Lines must end in LF or CRLF, not in CR alone', line)
    }
    const missing = NEEDED.filter((name) => !names.includes(name))
    if (missing.length > 0) {
      throw new Unreadable(`The first row must name the columns; missing: ${missing.join(', ')}`, line)
    }
    const unnamed = names.indexOf('')
    if (unnamed !== -1) throw new Unreadable(`Column ${unnamed + 1} has no name`, line)
    const seen = new Set<string>()
    const twice = names.find((name) => seen.size === seen.add(name).size)
    if (twice !== undefined) throw new Unreadable(`Two columns are named ${twice}`, line)
  }

  toRow({ line, cells }: TableRow): RawRow {
    const { names } = this
    if (cells.length !== names.length) {
      return { line, fault: `The row has ${cells.length} cells, and there are ${names.length} columns` }
    }
    const values: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) {
      const name = names[at]!
      const cell = cells[at]
      // An empty cell says nothing about a column that need not be there.
      if (cell !== undefined && (cell !== '' || name === 'notes')) put(values, name, cell)
    }
    if (values['data'] !== undefined) {
      values['data'] = parseObject(values['data'])
      if (!values['data']) return { line, field: 'data', fault: 'data must be a JSON object' }
    }
    return { line, values }
  }
}

function toName(header: string): string {
  const trimmed = header.trim()
  const known = trimmed.toLowerCase()
  return KNOWN.includes(known) ? known : trimmed
}

function parseObject(cell: unknown): object | undefined {
  try {
    const value: unknown = JSON.parse(String(cell))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
