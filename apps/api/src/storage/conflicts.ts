// What a caller may read when the database enforces a named constraint.
import { Problem } from '../base/problem.ts'

/** The sentence for each constraint, by its name. */
export type Conflicts = Readonly<Record<string, string>>

/** For the `catch` of a statement: a constraint that has a sentence becomes a conflict, all else passes as it is. */
export const conflictIn =
  (conflicts: Conflicts) =>
  (error: { constraint_name?: string }): never => {
    const message = conflicts[error.constraint_name ?? '']
    throw message ? new Problem('conflict', message, { cause: error }) : error
  }
