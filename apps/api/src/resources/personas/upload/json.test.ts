// Objects one by one, out of arrays and lines that arrive in pieces.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type RawRows, ROW_LENGTH_MAX, Unreadable } from './fault.ts'
import { readJsonArray, readNdjson } from './json.ts'

type Reader = (texts: AsyncIterable<string>) => RawRows

async function rowsOf(read: Reader, text: string, size = text.length || 1) {
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size))
  const rows = []
  for await (const group of read(pieces.values() as unknown as AsyncIterable<string>)) rows.push(...group)
  return rows
}
const values = async (read: Reader, text: string, size?: number) =>
  (await rowsOf(read, text, size)).map((row) => ('values' in row ? row.values : row.fault))

describe('a JSON array', () => {
  test('of any objects comes back object by object, however it arrives', async () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue()))
    await fc.assert(
      fc.asyncProperty(objects, fc.integer({ min: 1, max: 50 }), fc.boolean(), async (given, size, pretty) => {
        const text = JSON.stringify(given, null, pretty ? 2 : undefined)
        assert.deepEqual(JSON.stringify(await values(readJsonArray, text, size)), JSON.stringify(JSON.parse(text)))
      }),
      { numRuns: 300 },
    )
  })

  test('tells the line on which an object begins', async () => {
    const rows = await rowsOf(readJsonArray, '[\n{"a":\n1},\n\n{"b":2}]')
    assert.deepEqual(
      rows.map(({ line }) => line),
      [2, 5],
    )
  })

  test('with an object that is broken inside is read on behind it', async () => {
    const [first, second] = await rowsOf(readJsonArray, '[{"a":tru},\n{"b":2}]')
    assert.match(String(first && 'fault' in first && first.fault), /not valid JSON/)
    assert.deepEqual(second && 'values' in second && second.values, { b: 2 })
  })

  for (const [what, text, line] of [
    ['an object alone', '{"name":"x"}', 1],
    ['texts for objects', '["x"]', 1],
    ['two arrays', '[]\n[]', 2],
    ['a comma too many', '[{},\n]', 2],
    ['no comma', '[{}\n{}]', 2],
    ['no end', '[{},{}', 1],
    ['an object without an end', '[{"a":1', 1],
    ['nothing but spaces', ' \n ', 2],
  ] as const) {
    test(`is not ${what}`, async () => {
      const error = await rowsOf(readJsonArray, text).catch((thrown) => thrown)
      assert.ok(error instanceof Unreadable, String(error))
      assert.equal(error.line, line)
    })
  }

  test('whose object never ends stops being read', async () => {
    const text = `[{"a":"${'x'.repeat(ROW_LENGTH_MAX + 10)}`
    await assert.rejects(rowsOf(readJsonArray, text, 65_536), Unreadable)
  })
})

describe('NDJSON', () => {
  test('is an object a line, and empty lines are passed over', async () => {
    for (const size of [undefined, 1, 5]) {
      assert.deepEqual(await values(readNdjson, '{"a":1}\r\n\n{"b":2}', size), [{ a: 1 }, { b: 2 }])
    }
  })

  test('with a bad line is read on behind it', async () => {
    const rows = await rowsOf(readNdjson, '{"a":1}\n{"a":\n[1]\n{"b":2}\n')
    assert.deepEqual(
      rows.map((row) => [row.line, 'fault' in row]),
      [
        [1, false],
        [2, true],
        [3, true],
        [4, false],
      ],
    )
  })

  test('of one endless line stops being read', async () => {
    await assert.rejects(rowsOf(readNdjson, 'x'.repeat(ROW_LENGTH_MAX + 10), 65_536), Unreadable)
  })
})
