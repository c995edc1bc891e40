// CSV as people write it, as standards have it, and as it must not be.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { readCsv } from './csv.ts'
import { ROW_LENGTH_MAX, Unreadable } from './fault.ts'

/** Reads a text that arrives in pieces of a size. */
async function cellsOf(text: string, size = text.length || 1) {
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.slice(n * size, (n + 1) * size))
  const rows = []
  for await (const group of readCsv(pieces.values() as unknown as AsyncIterable<string>)) rows.push(...group)
  return rows
}

const cells = async (text: string, size?: number) => (await cellsOf(text, size)).map((row) => row.cells)

describe('CSV', () => {
  for (const [what, text, expected] of [
    [
      'lines that end in LF',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'lines that end in CRLF',
      'a,b\r\n1,2\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'a last line that does not end',
      'a,b\n1,2',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['quotes around anything', '"a","b, c"\r\n', [['a', 'b, c']]],
    ['quotes in quotes', '"say ""hi"""\n', [['say "hi"']]],
    ['line ends in quotes', '"one\ntwo\r\nthree",x\n', [['one\ntwo\r\nthree', 'x']]],
    [
      'empty cells',
      ',,\n"",x,\n',
      [
        ['', '', ''],
        ['', 'x', ''],
      ],
    ],
    ['empty lines, which are passed over', 'a\n\n\r\nb\n', [['a'], ['b']]],
    ['a quote inside a cell without quotes', '5" pipe,x\n', [['5" pipe', 'x']]],
    ['a quoted cell at the end of the file', 'a,"b"', [['a', 'b']]],
    ['spaces, which are kept', ' a , b \n', [[' a ', ' b ']]],
  ] as const) {
    test(`has ${what}`, async () => {
      for (const size of [undefined, 1, 2, 3]) assert.deepEqual(await cells(text, size), expected)
    })
  }

  test('rows know the line they begin on, whatever quotes hold', async () => {
    const rows = await cellsOf('h\n"a\nb"\n\nc\n"d"\n')
    assert.deepEqual(
      rows.map(({ line }) => line),
      [1, 2, 5, 6],
    )
  })

  test('any cells come back as they were written, however they arrive', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r\n', ' ', 'é') })
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 1, max: 40 }), async (rows, size) => {
        const text = rows.map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(',')).join('\n')
        assert.deepEqual(await cells(text, size), rows)
      }),
      { numRuns: 300 },
    )
  })
})

describe('CSV that cannot be read', () => {
  const refusal = async (text: string, size?: number) => {
    const error = await cellsOf(text, size).then(
      () => assert.fail('it was read'),
      (thrown) => thrown,
    )
    assert.ok(error instanceof Unreadable, String(error))
    return error
  }

  test('a quote that is never closed is named by the line of its row', async () => {
    const { line, message } = await refusal('a,b\n1,"2\n3,4\n')
    assert.equal(line, 2)
    assert.match(message, /never closed/)
  })

  test('something behind a closing quote is refused', async () => {
    assert.equal((await refusal('a\n"b"c\n')).line, 2)
  })

  test('a line without an end stops being read soon after the maximum', async () => {
    let sent = 0
    async function* endless() {
      for (;;) {
        sent += 65_536
        yield 'x'.repeat(65_536)
      }
    }
    await assert.rejects(async () => {
      for await (const rows of readCsv(endless())) Array.from(rows)
    }, Unreadable)
    assert.ok(sent < ROW_LENGTH_MAX + 200_000)
  })

  test('a row of very many cells takes no longer than its length', async () => {
    const started = performance.now()
    const [row] = await cells(`"x"${',y'.repeat(500_000)}\n`)
    assert.equal(row!.length, 500_001)
    assert.ok(performance.now() - started < 2000)
  })
})
