// When a model call is tried again, and after how long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkFailure, readRetryAfter, retryDelayMs } from './retry.ts'
import { defaultTimings } from './timings.ts'

test('waits lie between 250 ms and 4 s and grow with the second retry', () => {
  const delays = [0, 1].map((retry) =>
    [0, 0.999].map((luck) => retryDelayMs(retry, undefined, defaultTimings, () => luck)!),
  )
  assert.deepEqual(delays.flat().map(Math.round), [250, 999, 250, 3996])
  assert.equal(
    retryDelayMs(2, undefined, defaultTimings, () => 0),
    undefined,
  )
})

test('the server is waited for as long as it asks, up to 30 s', () => {
  assert.equal(
    retryDelayMs(0, 30, defaultTimings, () => 0),
    30_000,
  )
  assert.equal(
    retryDelayMs(0, 31, defaultTimings, () => 0),
    undefined,
  )
})

test('Retry-After is read as seconds or as a date, and ignored when it is neither', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  assert.equal(readRetryAfter('5', now), 5)
  assert.equal(readRetryAfter('Thu, 01 Jan 2026 00:00:09 GMT', now), 9)
  assert.equal(readRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now), 0)
  assert.equal(readRetryAfter('soon', now), undefined)
  assert.equal(readRetryAfter(undefined, now), undefined)
})

test('a refused connection, a cut one and a broken certificate are told apart', () => {
  const coded = (code: string) => Object.assign(new Error(code), { code })
  assert.equal(networkFailure(coded('ECONNREFUSED')), 'connect')
  assert.equal(networkFailure(new AggregateError([coded('EHOSTUNREACH')])), 'connect')
  assert.equal(networkFailure(coded('UND_ERR_SOCKET')), 'reset')
  assert.equal(networkFailure(coded('DEPTH_ZERO_SELF_SIGNED_CERT')), 'other')
})
