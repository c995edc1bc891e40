// The review of an argument (contract 3.2): which step may follow which, and whose verdict it is.
import { Problem } from '../../base/problem.ts'
import type { ReviewChanges, ReviewStatus } from './shapes.ts'

export interface ReviewColumns {
  review_status: ReviewStatus
  original_argument_score?: string
  reviewed_argument?: string
  reviewed_at?: string
  reviewed_by?: string
}

/** Forward step by step, back to where somebody can take it up again, and from a verdict to another review. */
const NEXT: Readonly<Record<ReviewStatus, readonly ReviewStatus[]>> = {
  pending: ['waiting_review'],
  waiting_review: ['reviewing', 'pending'],
  reviewing: ['success', 'failed', 'waiting_review'],
  success: ['waiting_review'],
  failed: ['waiting_review'],
}

const isVerdict = (status: ReviewStatus): boolean => status === 'success' || status === 'failed'

type ChangedColumns = { [K in keyof ReviewColumns]?: ReviewColumns[K] | undefined }

/** What an update changes of a review; nothing when it repeats what is there. */
export function toReviewColumns(
  current: ReviewColumns,
  { status = current.review_status, original_argument_score, reviewed_argument }: ReviewChanges,
  by: { readonly userId: string; readonly at: string },
): ChangedColumns {
  assertStep(current.review_status, status)
  const given = { review_status: status, original_argument_score, reviewed_argument }
  const changed = Object.entries(given).filter(
    ([column, value]) => value !== undefined && value !== current[column as keyof ReviewColumns],
  )
  if (changed.length === 0) return {}
  const verdict = isVerdict(status) ? { reviewed_by: by.userId, reviewed_at: by.at } : NO_VERDICT
  return { ...Object.fromEntries(changed), ...verdict }
}

const NO_VERDICT = { reviewed_by: undefined, reviewed_at: undefined }

function assertStep(from: ReviewStatus, to: ReviewStatus): void {
  if (from === to || NEXT[from].includes(to)) return
  throw new Problem('conflict', `A review that is ${from} can go to ${NEXT[from].join(' or ')}, not to ${to}`, {
    param: 'review.status',
  })
}
