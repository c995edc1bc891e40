// The look of API keys (contract 2.24).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf, isKey, newKey } from './api-keys.ts'

test('a key is told from a token by its beginning, and its prefix gives away six characters', () => {
  const { key, prefix, hash } = newKey()
  assert.equal(isKey(key), true)
  assert.equal(isKey('eyJhbGciOiJFUzI1NiJ9.e30.x'), false)
  assert.equal(key.startsWith(prefix), true)
  assert.equal(prefix.length, 'amphi_'.length + 6)
  assert.equal(digestOf(key), hash)
})

test('no two keys are alike', () => {
  const keys = new Set(Array.from({ length: 1000 }, () => newKey().key))
  assert.equal(keys.size, 1000)
})
