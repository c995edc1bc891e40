// Buckets that refill with time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../base/problem.ts'
import { RateLimit } from './rate-limit.ts'

const refusedAfter = (limit: RateLimit, key: string, atMs: number): number => {
  for (let taken = 0; ; taken++) {
    try {
      limit.take(key, atMs)
    } catch (error) {
      assert.ok(error instanceof Problem && error.code === 'rate_limited')
      assert.ok((error.retryAfterSeconds ?? 0) >= 1)
      return taken
    }
  }
}

test('a burst of some seconds’ worth passes, then a request for each share of time that went by', () => {
  const limit = new RateLimit('in this test', 2, 5)
  assert.equal(refusedAfter(limit, 'a', 0), 10)
  assert.equal(refusedAfter(limit, 'a', 1000), 2)
  assert.equal(refusedAfter(limit, 'a', 60_000), 10)
})

test('one person’s flood is nobody else’s', () => {
  const limit = new RateLimit('in this test', 1, 1)
  assert.equal(refusedAfter(limit, 'a', 0), 1)
  assert.equal(refusedAfter(limit, 'b', 0), 1)
})

test('a rate of 0 switches the limit off', () => {
  const limit = new RateLimit('in this test', 0)
  for (let i = 0; i < 10_000; i++) limit.take('a', 0)
})

test('what was let in elsewhere is missing here, and is waited for like the rest', () => {
  const limit = new RateLimit('in this test', 2, 5)
  const told: string[] = []
  limit.onTake = (key) => told.push(key)
  limit.charge('a', 14, 0)
  assert.equal(refusedAfter(limit, 'a', 0), 0)
  assert.equal(refusedAfter(limit, 'a', 3000), 2)
  assert.deepEqual(told, ['a', 'a'])
})
