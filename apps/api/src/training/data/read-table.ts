// Brings chosen columns of a dataset into memory, whole for training or piece by piece for predictions.
import { DataProblem } from '../data-problem.ts'
import { literal } from './database.ts'
import type { Dataset } from './dataset.ts'
import { readFault } from './faults.ts'
import type { SourceFile } from './source-file.ts'
import { type Column, type ColumnPlan, NO_CATEGORY, type Table } from './table.ts'

export async function readTable(dataset: Dataset, plan: readonly ColumnPlan[]): Promise<Table> {
  const columns = plan.map((planned) => emptyColumn(dataset, planned))
  let rows = 0
  for await (const piece of readPieces(dataset, plan)) {
    piece.columns.forEach((column, at) => {
      arrayOf(columns[at]!).set(arrayOf(column), rows)
    })
    rows += piece.rows
  }
  return { rows, columns }
}

/** Pieces of at most a few thousand rows, in the order of the files and of the rows in them. */
export async function* readPieces(dataset: Dataset, plan: readonly ColumnPlan[]): AsyncGenerator<Table> {
  const types = await categoryTypes(dataset, plan)
  const numbers = new Set(plan.filter(({ kind }) => kind === 'number').map(({ name }) => name))
  for (const { source, rows: counted } of dataset.files) {
    const values = plan.map((planned, at) => expression(dataset, source, planned, types[at]))
    const sql = `SELECT ${values.join(', ')} FROM ${source.fromWithNumbers(numbers)}`
    let rows = 0
    try {
      for await (const chunk of dataset.database.chunks(sql)) {
        rows += chunk.rowCount
        if (rows > counted) break
        const columns = plan.map((planned, at) =>
          pieceColumn(planned, itemsOf(chunk.getColumnVector(at), chunk.rowCount)),
        )
        yield { rows: chunk.rowCount, columns }
      }
    } catch (error) {
      throw readFault(source, error)
    }
    if (rows !== counted) throw new DataProblem(`${source.name} changed while it was being read.`)
  }
}

const arrayOf = (column: Column) => (column.kind === 'number' ? column.values : column.codes)

type Items = Float32Array | Float64Array | Int32Array

function itemsOf(vector: object, count: number): Items {
  const items = (vector as { items?: unknown }).items
  if (items instanceof Float32Array || items instanceof Float64Array || items instanceof Int32Array) {
    return items.subarray(0, count)
  }
  throw new Error('The table engine gave a vector of another type than was asked for.')
}

function pieceColumn(planned: ColumnPlan, items: Items): Column {
  const { name } = planned
  if (planned.kind === 'number' && !(items instanceof Int32Array)) return { name, kind: 'number', values: items }
  if (planned.kind === 'category' && items instanceof Int32Array) {
    return { name, kind: 'category', codes: items, categories: planned.categories }
  }
  throw new Error(`The column ${name} arrived as another kind than was asked for.`)
}

function emptyColumn({ rows, columns }: Dataset, planned: ColumnPlan): Column {
  const { name } = planned
  if (planned.kind === 'category') {
    const codes = new Int32Array(new SharedArrayBuffer(rows * 4))
    return { name, kind: 'category', codes, categories: planned.categories }
  }
  const single = columns.find((column) => column.name === name)!.single
  const values = single
    ? new Float32Array(new SharedArrayBuffer(rows * 4))
    : new Float64Array(new SharedArrayBuffer(rows * 8))
  return { name, kind: 'number', values }
}

// An enumerated type lets the engine turn text into codes, which is far quicker than fetching the text.
async function categoryTypes({ database }: Dataset, plan: readonly ColumnPlan[]): Promise<(string | undefined)[]> {
  const types: (string | undefined)[] = []
  for (const [at, planned] of plan.entries()) {
    if (planned.kind === 'number' || planned.categories.length === 0) types.push(undefined)
    else {
      types.push(`categories_${at}`)
      await database.rows(
        `CREATE OR REPLACE TYPE categories_${at} AS ENUM (${planned.categories.map(literal).join(', ')})`,
      )
    }
  }
  return types
}

function expression(dataset: Dataset, source: SourceFile, planned: ColumnPlan, type: string | undefined): string {
  const column = source.columns.find(({ name }) => name === planned.name)!
  if (planned.kind === 'number') {
    const precision = dataset.columns.find(({ name }) => name === planned.name)!.single ? 'FLOAT' : 'DOUBLE'
    const value = `CAST(${column.declared ? column.number : column.value} AS ${precision})`
    return `CASE WHEN isfinite(${value}) THEN ${value} ELSE CAST('nan' AS ${precision}) END`
  }
  if (!type) return `CAST(${NO_CATEGORY} AS INTEGER)`
  return `coalesce(CAST(enum_code(TRY_CAST(${column.text} AS ${type})) AS INTEGER), ${NO_CATEGORY})`
}
