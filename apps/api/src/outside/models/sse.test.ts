// Reading server-sent events from bytes cut anywhere.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { SseParser } from './sse.ts'

function parse(bytes: Buffer, cuts: readonly number[] = []): string[] {
  const parser = new SseParser()
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  const events = edges.slice(1).flatMap((edge, at) => parser.push(bytes.subarray(edges[at], edge)))
  return [...events, ...parser.end()]
}

test('comments, other fields and line endings are read as the format has them', () => {
  const cases: [string, string[]][] = [
    ['data: a\n\ndata:b\n\n', ['a', 'b']],
    [': ping\n\ndata: a\r\n\r\n', ['a']],
    ['event: x\nid: 1\ndata: a\n\n', ['a']],
    ['data: a\ndata: b\n\n', ['a\nb']],
    ['data:  two spaces\n\n', [' two spaces']],
    ['data: no end', ['no end']],
    ['data: no empty line\n', ['no empty line']],
    ['\n\n\n', []],
    ['data', []],
  ]
  for (const [text, events] of cases) assert.deepEqual(parse(Buffer.from(text)), events, JSON.stringify(text))
})

test('where the bytes are cut makes no difference', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ''))
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `data: ${text}\n\n`).join(''))
      assert.deepEqual(parse(bytes, cuts), lines)
    }),
  )
})
