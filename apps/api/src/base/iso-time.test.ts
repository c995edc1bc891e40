// Times are written as Date writes them, only faster.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isoTime } from './iso-time.ts'

test('a time is written as Date writes it, in whatever order times come', () => {
  const now = Date.now()
  for (const ms of [0, 9, 99, 999, 1000, 1009, now, now + 1, now - 5, now + 86_400_000, now, -1, 951_782_399_999])
    assert.equal(isoTime(ms), new Date(ms).toISOString())
})
