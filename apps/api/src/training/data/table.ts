// A table in memory, column by column, in arrays that threads share; a missing number is NaN, a missing category -1.
export interface NumberColumn {
  name: string
  kind: 'number'
  values: Float32Array | Float64Array
}

export interface CategoryColumn {
  name: string
  kind: 'category'
  codes: Int32Array
  /** What a code stands for; values that are not here are read as missing. */
  categories: readonly string[]
}

export type Column = NumberColumn | CategoryColumn

export interface Table {
  rows: number
  columns: Column[]
}

export type ColumnPlan =
  | { name: string; kind: 'number' }
  | { name: string; kind: 'category'; categories: readonly string[] }

export const NO_CATEGORY = -1
