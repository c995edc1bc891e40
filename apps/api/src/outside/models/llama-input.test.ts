// What the embedded model is told: the conversation in its form, and schemas it can follow.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toHistory } from './llama-history.ts'
import { toGrammarSchema } from './llama-schema.ts'

test('neighbours of one role are joined and the history ends with the turn of the model', () => {
  const history = toHistory([
    { role: 'system', content: 'A' },
    { role: 'developer', content: 'B' },
    { role: 'user', content: [{ type: 'text', text: 'C' }, { type: 'image_url' }] },
  ])
  assert.deepEqual(history, [
    { type: 'system', text: 'A\n\nB' },
    { type: 'user', text: 'C\n[image_url]' },
    { type: 'model', response: [] },
  ])
})

test('the result of a tool joins its call, and one without a call is not lost', () => {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }
  const history = toHistory([
    { role: 'user', content: 'go' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: 'done' },
    { role: 'tool', tool_call_id: 'other', content: 'stray' },
  ])
  assert.deepEqual(history.slice(1), [
    { type: 'model', response: [{ type: 'functionCall', name: 'f', params: { x: 1 }, result: 'done' }] },
    { type: 'user', text: 'stray' },
    { type: 'model', response: [] },
  ])
})

test('alternatives are renamed, names of fields are left alone, endless repetitions are dropped', () => {
  const schema = {
    type: 'object',
    properties: { anyOf: { anyOf: [{ type: 'string', maxLength: 5_000 }, { enum: [{ not: 1 }] }] } },
  }
  assert.deepEqual(toGrammarSchema(schema, 'response_format'), {
    type: 'object',
    properties: { anyOf: { oneOf: [{ type: 'string' }, { enum: [{ not: 1 }] }] } },
  })
})

test('schemas the grammar would get wrong or that would hold up the process are refused', () => {
  const field = (schema: object) => ({ type: 'object', properties: { a: schema } })
  for (const schema of [
    field({ not: {} }),
    field({ type: 'array', minItems: 1e6 }),
    field({ enum: ['x'.repeat(100_000)] }),
  ]) {
    assert.throws(() => toGrammarSchema(schema, 'tools'), { code: 'invalid_request', param: 'tools' })
  }
})

test('a schema that leaves the type open allows plain values, and one that implies it says it', () => {
  const any = { oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'null' }] }
  const schema = {
    properties: {
      a: {},
      b: true,
      c: { description: 'anything', default: null, deprecated: true },
      d: { items: { type: 'string' } },
      e: { $ref: '#' },
    },
    additionalProperties: true,
  }
  assert.deepEqual(toGrammarSchema(schema, 'tools'), {
    type: 'object',
    properties: {
      a: any,
      b: any,
      c: { description: 'anything', default: null, deprecated: true, ...any },
      d: { type: 'array', items: { type: 'string' } },
      e: { $ref: '#' },
    },
    additionalProperties: true,
  })
})
