// What is said of a value that fits none of several shapes, or one of them nearly.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { input, orNull } from '../contract/shapes.ts'
import { validator } from './validation.ts'

const Part = Type.Object({ size: Type.Integer({ minimum: 1 }) })
const Body = input({
  content: Type.Optional(Type.Union([Type.String(), Type.Null(), Type.Array(Part)])),
  count: orNull(Type.Integer({ minimum: 1 })),
  kind: orNull(Type.Enum(['a', 'b'])),
  one: orNull(Type.Literal(1)),
  many: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Null()]))),
  parts: orNull(Type.Array(Part)),
  flags: orNull(Type.Array(Type.Object({ strict: orNull(Type.Boolean()), name: Type.String() }))),
})
const check = validator(Body, 'body')

function told(value: unknown): Record<string, string> {
  try {
    check(value)
  } catch (error) {
    const {
      message,
      param = '',
      details = [{ param, message }],
    } = error as {
      message: string
      param?: string
      details?: { param: string; message: string }[]
    }
    return Object.fromEntries(details.map((detail) => [detail.param, detail.message]))
  }
  return {}
}

const cases: [string, unknown, Record<string, string>][] = [
  [
    'what fits no shape is told all of them',
    { content: {} },
    { content: 'content must be a string, null or an array' },
  ],
  ['of an array only the faulty item is named', { content: [1] }, { 'content.0': 'content.0 must be an object' }],
  [
    'and what is wrong inside it',
    { content: [{ size: 0 }] },
    { 'content.0.size': 'content.0.size must be at least 1' },
  ],
  ['a bound is told where the type is right', { count: 0 }, { count: 'count must be at least 1' }],
  ['a type is told with null', { count: 'x' }, { count: 'count must be an integer or null' }],
  ['a choice is told with null', { kind: 'c' }, { kind: 'kind must be a, b or null' }],
  ['a single value is told with null', { one: 2 }, { one: 'one must be 1 or null' }],
  [
    'a union inside a union is told where it fails, beside what else is wrong there',
    { flags: [{ strict: 'x' }] },
    { 'flags.0.name': 'flags.0.name is required', 'flags.0.strict': 'flags.0.strict must be true, false or null' },
  ],
  [
    'each of several is told for itself',
    { content: 1, count: false },
    { content: 'content must be a string, null or an array', count: 'count must be an integer or null' },
  ],
  [
    'more faults than are counted leave no half of one',
    { many: Array(20).fill(3) },
    { 'many.0': 'many.0 must be a string or null', 'many.1': 'many.1 must be a string or null' },
  ],
]
for (const [claim, value, wanted] of cases) test(claim, () => assert.deepEqual(told(value), wanted))

test('faults inside the one shape that fits are told, however many there are', () => {
  const all = Object.keys(told({ parts: Array(20).fill({ size: 0 }) }))
  assert.equal(all[0], 'parts.0.size')
  assert.ok(all.length > 1)
})
