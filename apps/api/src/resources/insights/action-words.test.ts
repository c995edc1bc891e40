// How a stored action is put into words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toWords } from './action-words.ts'

const plain = { id: 'a', name: 'Call', description: 'Ring\nthe client', type: 'contact', priority: 'very_high' }

test('an action is one line, whatever line breaks it holds', () => {
  assert.equal(toWords(plain), 'Call: Ring the client (type: contact; priority: very high)')
})

test('channel, dates, template and what is known are told, and nothing that is empty', () => {
  const more = {
    channel: 'phone',
    channel_template: 'Hello {{name}}',
    custom_insights: 'works best before noon',
    start_date: '2026-01-01T00:00:00.000Z',
    end_date: '2026-02-01T00:00:00.000Z',
  }
  const about =
    'channel: phone; from: 2026-01-01; until: 2026-02-01; message template: Hello {{name}}; known about it: '
  assert.equal(
    toWords({ ...plain, description: '', type: '', ...more }),
    `Call (priority: very high; ${about}works best before noon)`,
  )
})
