// Puts what ended a training or an evaluation into a sentence for its owner, or says that it was no fault of the job.
import { Problem } from '../base/problem.ts'
import { isConnectionFailure } from '../storage/sql.ts'
import { DataProblem } from '../training/data-problem.ts'

/** Nothing when another try may go better: the database was away. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof DataProblem) return error.message
  if (error instanceof Problem) return error.code === 'database_unavailable' ? undefined : error.message
  if (isConnectionFailure(error)) return undefined
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'The disk is full.'
  return undefined
}
