// Places and the queue before them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Slots } from './slots.ts'

const never = new AbortController().signal

test('a place given back goes to the one who waited longest', async () => {
  const slots = new Slots(['a'], 2)
  const place = await slots.take(never)
  const order: string[] = []
  const waiting = ['first', 'second'].map(async (name) => {
    const given = await slots.take(never)
    order.push(name)
    slots.giveBack(given)
  })
  slots.giveBack(place)
  await Promise.all(waiting)
  assert.deepEqual(order, ['first', 'second'])
})

test('who leaves the queue gives up the turn and keeps nobody waiting', async () => {
  const slots = new Slots(['a'], 1)
  const place = await slots.take(never)
  const leaver = new AbortController()
  const left = assert.rejects(slots.take(leaver.signal), { name: 'AbortError' })
  leaver.abort()
  await left
  const next = slots.take(never)
  slots.giveBack(place)
  assert.equal(await next, 'a')
})

test('a full queue is said at once, with a time to come back', async () => {
  const slots = new Slots(['a'], 0)
  await slots.take(never)
  await assert.rejects(slots.take(never), { code: 'upstream_rate_limited', retryAfterSeconds: 5 })
})
