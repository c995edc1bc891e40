// Finding the JSON in what models write.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { objectsIn } from './json-answer.ts'

test('objects are found behind prose, fences and thoughts', () => {
  const cases: [string, object[]][] = [
    ['{"a":1}', [{ a: 1 }]],
    ['Sure!\n```json\n{"a":{"b":"}"}}\n```\nAnything else?', [{ a: { b: '}' } }]],
    ['<think>{"a":0} perhaps</think>{"a":1}', [{ a: 1 }]],
    ['{"a":0} maybe</think>\n{"a":1}', [{ a: 1 }]],
    ['{not json} then {"a":"\\"{"}', [{ a: '"{' }]],
    ['{"a":1} and {"b":2}', [{ a: 1 }, { b: 2 }]],
    ['{ {"a":1}', [{ a: 1 }]],
    ['{"a":', []],
    ['nothing at all', []],
  ]
  for (const [text, objects] of cases) assert.deepEqual([...objectsIn(text)], objects, text)
})

test('any object is found again between words', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const text = JSON.stringify(object)
      assert.equal(JSON.stringify([...objectsIn(`Here: ${text} Done.`)][0]), JSON.stringify(JSON.parse(text)))
    }),
  )
})

test('a megabyte of braces costs little', () => {
  const startedAt = performance.now()
  assert.deepEqual([...objectsIn('{'.repeat(1_000_000))], [])
  assert.ok(performance.now() - startedAt < 2_000)
})
