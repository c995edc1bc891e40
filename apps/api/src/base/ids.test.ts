// Identifiers order rows by the time they were made.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isId, newId } from './ids.ts'

test('ids are well-formed UUIDs of version 7', () => {
  const id = newId()
  assert.ok(isId(id))
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('ids grow strictly, also within a millisecond and when the clock goes back', () => {
  const now = Date.now()
  const ids = Array.from({ length: 20_000 }, (_, i) => newId(i % 7 === 0 ? now - 5000 : now))
  for (let i = 1; i < ids.length; i++) assert.ok(ids[i]! > ids[i - 1]!, `${ids[i - 1]} then ${ids[i]}`)
})

test('what is not an id is told apart', () => {
  for (const text of ['', 'x', newId().toUpperCase(), `${newId()} `, `{${newId()}}`])
    assert.equal(isId(text), false, text)
})
