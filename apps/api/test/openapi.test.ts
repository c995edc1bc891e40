// The published description.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { catalogue } from '../src/catalogue.ts'
import { openapi } from '../src/http/openapi.ts'
import { VERSION } from '../src/version.ts'

const description = openapi(catalogue, VERSION)
const operations = Object.values(
  description['paths'] as Record<string, Record<string, { operationId: string; deprecated?: boolean }>>,
).flatMap((methods) => Object.values(methods))

test('the committed openapi.json is what the catalogue says (npm run openapi)', () => {
  const committed = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'))
  assert.deepEqual(committed, JSON.parse(JSON.stringify(description)))
})

test('every operation has an identifier of its own', () => {
  const ids = operations.map(({ operationId }) => operationId)
  assert.equal(new Set(ids).size, ids.length)
})

test('operations of a space are described at both addresses, the header form as deprecated', () => {
  for (const { id, scope } of catalogue) {
    const described = operations.filter(({ operationId }) => operationId === id || operationId === `${id}.by-header`)
    assert.equal(described.length, scope === 'space' ? 2 : 1, id)
    assert.equal(described.filter(({ deprecated }) => deprecated).length, scope === 'space' ? 1 : 0, id)
  }
})

test('every pattern is published, and said in words for those who sent something else', () => {
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { pattern, description: words } = value as Record<string, unknown>
    if (pattern !== undefined) assert.deepEqual([typeof pattern, typeof words], ['string', 'string'])
    Object.values(value).forEach(look)
  }
  look(description)
})
