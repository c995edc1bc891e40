// What can be wrong with an uploaded file: a row, after which reading goes on, or the file, which ends it.
import type { Values } from './values.ts'

/** A row as a file holds it: values by column, or what keeps it from being read. */
export type RawRow = { readonly line: number } & (
  | { readonly values: Values }
  | { readonly fault: string; readonly field?: string }
)

/**
 * For each piece that arrives, the rows in it. They are found only as they are asked for, so that no more than one of
 * them is in memory, and without waiting, which for each row would cost more than reading it.
 */
export type RawRows = AsyncIterable<Iterable<RawRow>>

export class Unreadable extends Error {
  /** Counted from 1; absent where the fault has no place. */
  readonly line: number | undefined

  constructor(message: string, line?: number) {
    super(message)
    this.name = 'Unreadable'
    this.line = line
  }
}

/** As much as a persona may be that is created singly. */
export const ROW_LENGTH_MAX = 1_048_576
