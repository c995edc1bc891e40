// Which step of a review may follow which, and when it bears a name.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../base/problem.ts'
import { type ReviewColumns, toReviewColumns } from './review.ts'
import type { ReviewStatus } from './shapes.ts'

const by = { userId: 'rita', at: '2026-03-01T09:30:00.000Z' }
const stamp = { reviewed_by: 'rita', reviewed_at: by.at }
const noStamp = { reviewed_by: undefined, reviewed_at: undefined }
const at = (review_status: ReviewStatus, more: Partial<ReviewColumns> = {}): ReviewColumns => ({
  review_status,
  ...more,
})

const STATUSES: readonly ReviewStatus[] = ['pending', 'waiting_review', 'reviewing', 'success', 'failed']
const ALLOWED = new Set([
  'pending → waiting_review',
  'waiting_review → reviewing',
  'waiting_review → pending',
  'reviewing → success',
  'reviewing → failed',
  'reviewing → waiting_review',
  'success → waiting_review',
  'failed → waiting_review',
])

for (const from of STATUSES) {
  for (const to of STATUSES) {
    const step = `${from} → ${to}`
    if (from === to) continue
    test(`${step} is ${ALLOWED.has(step) ? 'a step' : 'refused'}`, () => {
      const take = () => toReviewColumns(at(from), { status: to }, by)
      if (ALLOWED.has(step)) assert.equal(take().review_status, to)
      else assert.throws(take, (error) => error instanceof Problem && error.code === 'conflict')
    })
  }
}

test('a verdict is stamped with the reviewer and the time, whatever the request says about them', () => {
  const forged = { status: 'success' as const, reviewed_by: 'eve', reviewed_at: '1999-01-01T00:00:00Z' }
  assert.deepEqual(toReviewColumns(at('reviewing'), forged, by), { review_status: 'success', ...stamp })
})

test('whoever changes the words under a verdict answers for it from then on', () => {
  const given = at('failed', { reviewed_by: 'old', reviewed_at: 'then', reviewed_argument: 'a' })
  assert.deepEqual(toReviewColumns(given, { reviewed_argument: 'b' }, by), { reviewed_argument: 'b', ...stamp })
})

test('a score or a text before the verdict bears no stamp', () => {
  const change = { original_argument_score: '3', reviewed_argument: 'x' }
  assert.deepEqual(toReviewColumns(at('reviewing'), change, by), { ...change, ...noStamp })
})

test('another review takes the stamp of the last one away', () => {
  const given = at('success', { reviewed_by: 'old', reviewed_at: 'then' })
  const again = { review_status: 'waiting_review', ...noStamp }
  assert.deepEqual(toReviewColumns(given, { status: 'waiting_review' }, by), again)
})

test('what repeats the present state changes nothing', () => {
  const given = at('success', { reviewed_by: 'old', reviewed_at: 'then', reviewed_argument: 'a' })
  assert.deepEqual(toReviewColumns(given, { status: 'success', reviewed_argument: 'a' }, by), {})
  assert.deepEqual(toReviewColumns(at('pending'), {}, by), {})
})
