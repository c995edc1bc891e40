// What is in one file: its columns, their types, how many values each lacks, and how many rows there are.
import { Database, type DataLimits } from './database.ts'
import { type DataFile, readFault } from './faults.ts'
import { type Format, openFile, type SourceColumn, type SourceFile } from './source-file.ts'

/** Numbers and dates are numbers, text and booleans are text; nothing can be learned from the others. */
export type Kind = 'number' | 'text' | 'other'

export interface ScannedColumn {
  name: string
  type: string
  kind: Kind
  nulls: number
}

export interface Scan {
  rows: number
  columns: ScannedColumn[]
}

export async function scanFile(file: DataFile, format: Format, limits: DataLimits): Promise<Scan> {
  const database = await Database.open(limits)
  try {
    return await scanSource(database, await openFile(database, format, file))
  } finally {
    database.close()
  }
}

/** Looks at every row: a type guessed from the first rows is wrong as soon as a later row differs. */
export async function scanSource(database: Database, source: SourceFile): Promise<Scan> {
  const counts = source.columns.flatMap((column) => (column.declared ? declaredCounts(column) : looseCounts(column)))
  try {
    const [found = []] = await database.rows(`SELECT count(*), ${counts.join(', ')} FROM ${source.from}`)
    const numbers = found.map(Number)
    const rows = numbers.shift()!
    const columns = source.columns.map((column) => {
      const [present = 0, numeric = 0, whole = 0, nested = 0] = numbers.splice(0, column.declared ? 1 : 4)
      const type = column.declared ?? looseType(present, numeric, whole, nested)
      return { name: column.name, type, kind: kindOf(type), nulls: rows - present }
    })
    return { rows, columns }
  } catch (error) {
    throw readFault(source, error)
  }
}

const declaredCounts = ({ value }: SourceColumn) => [`count(${value})`]

const looseCounts = ({ value, number }: SourceColumn) => [
  `count(${value})`,
  `count(${number})`,
  `count_if(${number} = floor(${number}))`,
  `count_if(${value}[1] IN ('{', '['))`,
]

function looseType(present: number, numeric: number, whole: number, nested: number): string {
  if (present === whole) return 'BIGINT'
  if (present === numeric) return 'DOUBLE'
  return present === nested ? 'JSON' : 'VARCHAR'
}

const NUMBERS = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|DATE|TIME[A-Z_ ]*)$/
const TEXTS = /^(VARCHAR|UUID|BOOLEAN|ENUM\(.*\))$/

function kindOf(type: string): Kind {
  if (NUMBERS.test(type)) return 'number'
  return TEXTS.test(type) ? 'text' : 'other'
}
