// Bytes that are UTF-8, and bytes that are something else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Unreadable } from './fault.ts'
import { toText } from './text.ts'

async function textOf(...chunks: (string | number[])[]) {
  const bytes = chunks.map((chunk) => (typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk)))
  let text = ''
  try {
    for await (const piece of toText(bytes.values() as unknown as AsyncIterable<Uint8Array>)) text += piece
  } catch (error) {
    assert.ok(error instanceof Unreadable, String(error))
    return { text, refusal: error.message }
  }
  return { text, refusal: undefined }
}

test('a mark of UTF-8 at the beginning is no part of the text', async () => {
  assert.deepEqual(await textOf([0xef, 0xbb, 0xbf], 'name'), { text: 'name', refusal: undefined })
})

test('a character may be cut in two on its way', async () => {
  const big = 'x'.repeat(70_000)
  assert.equal((await textOf(big, [0xc3], `${''}`, [0xa9], big)).text, `${big}é${big}`)
})

test('a half character at the end is refused', async () => {
  assert.match((await textOf('a', [0xc3])).refusal!, /UTF-8/)
})

test('Latin-1 is refused, behind the good lines before it', async () => {
  const { text, refusal } = await textOf('one\ntwo\nJos', [0xe9], '\nfour\n')
  assert.match(refusal!, /UTF-8/)
  assert.equal(text, 'one\ntwo\n')
})

test('UTF-16 is refused by its mark, and without one by its NUL characters', async () => {
  assert.match((await textOf([0xff, 0xfe, 0x6e, 0])).refusal!, /UTF-16/)
  assert.match((await textOf([0xfe, 0xff, 0, 0x6e])).refusal!, /UTF-16/)
  assert.match((await textOf([0x6e, 0, 0x61, 0])).refusal!, /NUL/)
})

test('a ZIP archive under a false name is called what it is', async () => {
  assert.match((await textOf('PK\x03\x04')).refusal!, /xlsx/)
})

test('no bytes at all are an empty file', async () => {
  assert.match((await textOf()).refusal!, /empty/)
  assert.match((await textOf('', [])).refusal!, /empty/)
})
