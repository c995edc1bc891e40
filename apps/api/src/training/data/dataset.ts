// Several files of one kind as one table that is not in memory yet: its columns and its rows are known.
import { DataProblem } from '../data-problem.ts'
import { Database, type DataLimits } from './database.ts'
import type { DataFile } from './faults.ts'
import { type Kind, type Scan, scanSource } from './scan.ts'
import { type Format, openFile, type SourceFile } from './source-file.ts'

export interface DatasetColumn {
  name: string
  kind: Kind
  type: string
  nulls: number
  /** Whether single precision holds every value of the column exactly. */
  single: boolean
}

export interface Dataset {
  database: Database
  files: { source: SourceFile; rows: number }[]
  rows: number
  columns: DatasetColumn[]
}

const SINGLE = /^(U?TINYINT|U?SMALLINT|FLOAT)$/

/** Opens the files, hands the table to the work, and closes them again whatever happens. */
export async function withDataset<T>(
  files: readonly DataFile[],
  format: Format,
  limits: DataLimits,
  work: (dataset: Dataset) => Promise<T>,
): Promise<T> {
  if (files.length === 0) throw new DataProblem('There are no files to read.')
  const database = await Database.open(limits)
  try {
    const scanned: { source: SourceFile; scan: Scan }[] = []
    for (const file of files) {
      const source = await openFile(database, format, file)
      scanned.push({ source, scan: await scanSource(database, source) })
    }
    const columns = mergeColumns(scanned)
    const counted = scanned.map(({ source, scan }) => ({ source, rows: scan.rows }))
    const rows = counted.reduce((sum, file) => sum + file.rows, 0)
    if (rows === 0) throw new DataProblem(`${files.map(({ name }) => name).join(', ')}: there are no rows.`)
    return await work({ database, files: counted, rows, columns })
  } finally {
    database.close()
  }
}

function mergeColumns(scanned: { source: SourceFile; scan: Scan }[]): DatasetColumn[] {
  const [first, ...others] = scanned
  for (const { source, scan } of others) assertSameNames(first!, source, scan)
  return first!.scan.columns.map(({ name }) => {
    // A column that is empty in one file takes its kind from the others.
    const all = scanned.map(({ scan, source }) => ({ source, ...scan.columns.find((column) => column.name === name)! }))
    const filled = all.filter((column, at) => column.nulls < scanned[at]!.scan.rows)
    const [lead = all[0]!, ...rest] = filled
    const other = rest.find(({ kind }) => kind !== lead.kind)
    if (other && isDeclared(other.source, name)) {
      const fault = `the column ${name} is ${other.type}, but ${lead.type} in ${lead.source.name}`
      throw new DataProblem(`${other.source.name}: ${fault}.`)
    }
    return {
      name,
      kind: other ? 'text' : lead.kind,
      type: other ? 'VARCHAR' : lead.type,
      nulls: all.reduce((sum, column) => sum + column.nulls, 0),
      single: filled.every(({ type }) => SINGLE.test(type)),
    }
  })
}

const isDeclared = (source: SourceFile, name: string) =>
  source.columns.some((column) => column.name === name && column.declared !== undefined)

function assertSameNames(first: { source: SourceFile; scan: Scan }, source: SourceFile, scan: Scan): void {
  const wanted = new Set(first.scan.columns.map(({ name }) => name))
  const found = new Set(scan.columns.map(({ name }) => name))
  const lacking = [...wanted].filter((name) => !found.has(name))
  const extra = [...found].filter((name) => !wanted.has(name))
  if (lacking.length > 0) {
    throw new DataProblem(`${source.name}: no column ${lacking.join(', ')}, which ${first.source.name} has.`)
  }
  if (extra.length > 0) {
    throw new DataProblem(`${source.name}: the column ${extra.join(', ')} is not in ${first.source.name}.`)
  }
}
