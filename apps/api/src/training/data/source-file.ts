// One local file as SQL: where its rows come from, and each column as text and as a number.
import { stat } from 'node:fs/promises'
import { DataProblem } from '../data-problem.ts'
import { readCsvHeader } from './csv-header.ts'
import { type Database, literal, quoted } from './database.ts'
import { type DataFile, readFault } from './faults.ts'

export const FORMATS = ['csv', 'ndjson', 'parquet'] as const
export type Format = (typeof FORMATS)[number]

export interface SourceColumn {
  name: string
  /** The column as it stands in the file; counting it is cheap, casting it is not. */
  value: string
  text: string
  number: string
  /** The type a Parquet file declares; the other formats have to be looked through. */
  declared?: string
}

export interface SourceFile extends DataFile {
  /** The rows with every undeclared column as text. */
  from: string
  /** The rows with these columns read as numbers straight away, which halves the time of reading text files. */
  fromWithNumbers(names: ReadonlySet<string>): string
  columns: SourceColumn[]
}

const NO_NAMES: ReadonlySet<string> = new Set()

// Read as missing, besides the empty value, in CSV: what spreadsheets and data frames write for it.
const MISSING = ['', 'NA', 'N/A', 'NaN', 'nan', 'null', 'NULL']

const openers: Record<Format, (database: Database, file: DataFile) => Promise<SourceFile>> = {
  // The dialect is fixed rather than guessed: a guess would read a broken quote as part of the value.
  async csv(_, file) {
    const { names, separator } = await readCsvHeader(file)
    const columns = names.map((name, position) => looseColumn(name, `c${position}`))
    const dialect = `header = true, delim = ${literal(separator)}, quote = '"', escape = '"', strict_mode = true`
    const missing = `nullstr = [${MISSING.map(literal).join(', ')}]`
    const fromWithNumbers = (numbers: ReadonlySet<string>) =>
      `read_csv(${pathOf(file)}, auto_detect = false, ${typesOf(columns, numbers)}, ${dialect}, ${missing})`
    return { ...file, from: fromWithNumbers(NO_NAMES), fromWithNumbers, columns }
  },

  async ndjson(database, file) {
    const objects = `read_ndjson_objects(${pathOf(file)})`
    const found = await database.rows(`SELECT DISTINCT unnest(json_keys(json)) AS name FROM ${objects} ORDER BY name`)
    const columns = found.map(([name]) => jsonColumn(String(name), quoted(String(name))))
    const fromWithNumbers = (numbers: ReadonlySet<string>) =>
      `read_json(${pathOf(file)}, format = 'newline_delimited', records = true, ${typesOf(columns, numbers)})`
    return { ...file, from: fromWithNumbers(NO_NAMES), fromWithNumbers, columns }
  },

  async parquet(database, file) {
    const from = `read_parquet(${pathOf(file)})`
    const described = await database.rows(`DESCRIBE SELECT * FROM ${from}`)
    const columns = described.map(([name, type]) => typedColumn(String(name), String(type)))
    return { ...file, from, fromWithNumbers: () => from, columns }
  },
}

const pathOf = ({ path }: DataFile) => `[${literal(path)}]`

function typesOf(columns: SourceColumn[], numbers: ReadonlySet<string>): string {
  const types = columns.map(({ name, value }) => `${value}: '${numbers.has(name) ? 'DOUBLE' : 'VARCHAR'}'`)
  return `columns = {${types.join(', ')}}`
}

function looseColumn(name: string, value: string): SourceColumn {
  return { name, value, text: value, number: `TRY_CAST(${value} AS DOUBLE)` }
}

// In a text such as "1_000", "00501" or "+1" a cast finds a number, but the JSON reader does not and fails: it is text.
const NO_JSON_NUMBER = literal('^([+[:space:]]|0[0-9])|_|[[:space:]]$')

function jsonColumn(name: string, value: string): SourceColumn {
  const column = looseColumn(name, value)
  return { ...column, number: `CASE WHEN NOT regexp_matches(${value}, ${NO_JSON_NUMBER}) THEN ${column.number} END` }
}

function typedColumn(name: string, declared: string): SourceColumn {
  const value = quoted(name)
  const number = /^(DATE|TIME)/.test(declared) ? `epoch(${value})` : `TRY_CAST(${value} AS DOUBLE)`
  return { name, value, text: `CAST(${value} AS VARCHAR)`, number, declared }
}

export async function openFile(database: Database, format: Format, file: DataFile): Promise<SourceFile> {
  try {
    const { size } = await stat(file.path)
    if (size === 0) throw new DataProblem(`${file.name} is empty.`)
    const source = await openers[format](database, file)
    const twice = source.columns.find(({ name }, at) => source.columns.findIndex((other) => other.name === name) < at)
    if (twice) throw new DataProblem(`${file.name}: the column ${twice.name} is there twice.`)
    if (source.columns.length === 0) throw new DataProblem(`${file.name} has no columns.`)
    return source
  } catch (error) {
    throw readFault(file, error)
  }
}
