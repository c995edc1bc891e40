// How choices and sizes are written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { either, toSize } from './words.ts'

test('a choice reads like a sentence, whatever its length', () => {
  assert.deepEqual([either(['a']), either(['a', 'b']), either(['a', 'b', 'c'])], ['a', 'a or b', 'a, b or c'])
})

test('a size is exact, in the largest unit that is', () => {
  const written = [1_048_576, 256 * 2 ** 20, 2 ** 30, 1536, 5_000_000].map(toSize)
  assert.deepEqual(written, ['1 MiB', '256 MiB', '1 GiB', '1536 bytes', '5000000 bytes'])
})
