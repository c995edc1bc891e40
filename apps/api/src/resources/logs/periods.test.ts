// Periods cut into days, hours and single logs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { endOf, piecesOf, startOf } from './periods.ts'

const HOUR = 3_600_000
const size = { log: 1, hour: HOUR, day: 24 * HOUR }

test('the pieces of any period touch, cover it exactly, and lie on the borders of their grain', () => {
  const ms = fc.integer({ min: 0, max: 40 * 24 * HOUR })
  fc.assert(
    fc.property(ms, ms, (from, to) => {
      const pieces = piecesOf(from, to)
      if (from >= to) return assert.deepEqual(pieces, [])
      assert.equal(pieces[0]!.from, from)
      assert.equal(pieces.at(-1)!.to, to)
      for (const [i, piece] of pieces.entries()) {
        assert.equal(piece.from % size[piece.grain], 0)
        assert.equal(piece.to % size[piece.grain], 0)
        if (i > 0) assert.equal(piece.from, pieces[i - 1]!.to)
        if (piece.grain === 'log') assert.ok(piece.to - piece.from < 2 * HOUR)
      }
    }),
  )
})

test('a period without ends is counted by days alone', () => {
  const all = piecesOf(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)
  assert.deepEqual(
    all.map(({ grain }) => grain),
    ['day'],
  )
})

test('parts of a millisecond never let in a log from outside the period', () => {
  const at = Date.parse('2026-01-01T10:00:00.000Z')
  assert.equal(startOf('2026-01-01T10:00:00.0005Z'), at + 1)
  assert.equal(startOf('2026-01-01T10:00:00.000000Z'), at)
  assert.equal(endOf('2026-01-01T10:00:00.0005Z'), at + 1)
  assert.equal(endOf('2026-01-01T10:00:00Z'), at + 1)
})
