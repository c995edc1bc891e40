// One process's part of a shared limit.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Allowance } from './allowance.ts'

/** A lease whose words with the database end when the test says so. */
function held() {
  const waiting: { change: { released: number; wanted: number }; end: (granted: number) => void; fail: () => void }[] =
    []
  const allowance = new Allowance(
    (change) =>
      new Promise((resolve, reject) => {
        waiting.push({ change, end: resolve, fail: () => reject(new Error('played by a test')) })
      }),
    0,
  )
  const next = async () => {
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve))
    return waiting.shift()!
  }
  return { allowance, next }
}

test('it is not idle while it speaks with the database, or what comes of that would be forgotten', async () => {
  const { allowance, next } = held()
  assert.ok(allowance.isIdle)
  const taking = allowance.take(1)
  const lease = await next()
  assert.ok(!allowance.isIdle, 'a place may be granted any moment')
  lease.end(1)
  assert.equal(await taking, 1)
  const ended = Promise.resolve(allowance.end(1, 0))
  const release = await next()
  assert.ok(!allowance.isIdle, 'the place may have to be given back again')
  release.fail()
  await assert.rejects(ended)
  assert.ok(!allowance.isIdle, 'the place is still to be given back')
  const settled = allowance.settle(0)
  const again = await next()
  assert.equal(again.change.released, 1)
  again.end(0)
  await settled
  assert.ok(allowance.isIdle)
})
