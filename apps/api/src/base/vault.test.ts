// What is sealed stays closed to whoever lacks the key, and to whoever moves it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from './secret.ts'
import { openVault } from './vault.ts'

const place = { tenantId: 'acme', table: 'connectors', id: '1', column: 'sealed' }
const vault = openVault(new Secret('one key'))

test('what was sealed opens in its place, and does not show its content', () => {
  const sealed = vault.seal('the secret ✓', place)
  assert.doesNotMatch(sealed, /secret/)
  assert.equal(vault.open(sealed, place), 'the secret ✓')
  assert.notEqual(vault.seal('the secret ✓', place), sealed)
})

test('a value that was moved to another tenant, table, row or column does not open', () => {
  const sealed = vault.seal('x', place)
  for (const moved of [{ tenantId: 'rival' }, { table: 'clusters' }, { id: '2' }, { column: 'token' }]) {
    assert.throws(() => vault.open(sealed, { ...place, ...moved }))
  }
})

test('another key, and a value that was altered, do not open', () => {
  const sealed = vault.seal('x', place)
  assert.throws(() => openVault(new Secret('another key')).open(sealed, place))
  assert.throws(() => vault.open(`${sealed.slice(0, -2)}AA`, place))
  assert.throws(() => vault.open('nonsense', place), /Unreadable/)
})
