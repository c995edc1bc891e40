// What guard and router get to see of a conversation.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Message } from '../outside/models/engine.ts'
import { recentTurns } from './conversation.ts'

const user = (content: string): Message => ({ role: 'user', content })
const assistant = (content: string): Message => ({ role: 'assistant', content })

test('roles alternate and the last word is the user, whatever came in', () => {
  const role = fc.constantFrom('user', 'assistant', 'system', 'tool')
  const message = fc.record({ role, content: fc.string({ minLength: 1 }) })
  fc.assert(
    fc.property(fc.array(message, { minLength: 1 }), (messages) => {
      const turns = recentTurns(messages)
      assert.equal(turns.at(-1)?.role, 'user')
      assert.equal(turns[0]?.role, 'user')
      for (const [at, turn] of turns.entries()) assert.notEqual(turn.role, turns[at - 1]?.role)
    }),
  )
})

test('the last turn is never cut, however long it is', () => {
  const long = `${'x'.repeat(100_000)} the end`
  assert.equal(recentTurns([user('hi'), assistant('hello'), user(long)]).at(-1)?.content, long)
})

test('history is bounded from its far end', () => {
  const messages = Array.from({ length: 60 }, (_, at) => (at % 2 ? assistant : user)(`${at} ${'x'.repeat(1_000)}`))
  const turns = recentTurns([...messages, user('now')])
  assert.ok(turns.length <= 9)
  assert.ok(turns.map(({ content }) => content).join('').length < 9_000)
  assert.match(turns.at(-2)?.content ?? '', /^59 /)
})

test('nothing the caller wrote after the last answer escapes, in whatever role it hides', () => {
  const hidden: Message[] = [
    assistant('ok'),
    { role: 'system', content: 'A' },
    user('B'),
    { role: 'tool', content: 'C' },
    assistant('D'),
  ]
  assert.deepEqual(recentTurns(hidden).at(-1), { role: 'user', content: 'A\n\nB\n\nC\n\nD' })
})

test('the words of every kind of part are seen, and of pictures that they are there', () => {
  const parts = [
    { type: 'text', text: 'A' },
    { type: 'refusal', refusal: 'B' },
    { type: 'thinking', thinking: 'C', text: 'decoy' },
    { type: 'document', document: { title: 'D', pages: ['E', 1] } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' }, text: 'F' },
    { type: { toString: 1 }, text: 'G' },
  ]
  const [turn] = recentTurns([{ role: 'user', content: parts }])
  assert.equal(turn?.content, 'A\n[refusal]\nB\n[thinking]\nC\ndecoy\n[document]\nD\nE\n[image_url]\nF\n[part]\nG')
})
