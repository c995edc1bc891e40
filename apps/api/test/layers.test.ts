// The shape of the tree: imports point down, and only where they may.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../src/', import.meta.url))

/** A folder may import itself and any folder below it in this list, never one above. */
const LAYERS = [
  '',
  'config',
  'development',
  'http',
  'jobs',
  'resources',
  'contract',
  'access',
  'inference',
  'training',
  'outside',
  'storage',
  'processes',
  'base',
]
const layerOf = (path: string) => LAYERS.indexOf(posix.dirname(path).split('/')[0]!.replace(/^\.$/, ''))

const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.endsWith('.test.ts'))
const textOf = (file: string) => readFileSync(SRC + file, 'utf8')

const importsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target = '']) =>
    posix.join(posix.dirname(file), target),
  )

test('imports point downward', () => {
  for (const file of files) {
    assert.notEqual(layerOf(file), -1, `${file} is in a folder that no layer names`)
    for (const path of importsOf(file)) {
      assert.ok(layerOf(path) >= layerOf(file), `${file} reaches up to ${path}`)
    }
  }
})

test('no file imports itself by way of others', () => {
  const isFree = new Set<string>()
  const visit = (file: string, way: readonly string[]): void => {
    assert.ok(!way.includes(file), `a circle: ${[...way, file].join(' → ')}`)
    if (isFree.has(file)) return
    for (const path of importsOf(file)) visit(path, [...way, file])
    isFree.add(file)
  }
  for (const file of files) visit(file, [])
})

test('SQL is written only in storage and in store files', () => {
  for (const file of files) {
    if (file.startsWith('storage/') || file.endsWith('-store.ts')) continue
    assert.doesNotMatch(textOf(file), /\b(sql|tx|system|client)(<[^`]*>)?`/, `${file} writes SQL`)
  }
})

test('only config.ts and the entry points look at the environment', () => {
  for (const file of files) {
    if (['config.ts', 'main.ts'].includes(file)) continue
    assert.doesNotMatch(textOf(file), /process\.env\b/, `${file} reads process.env`)
  }
})

test('every file says first what it is for, and none has grown past 300 lines', () => {
  for (const file of files) {
    const text = textOf(file)
    assert.match(text, /^\/\/ [A-Z]/, `${file} does not begin with its purpose`)
    assert.ok(text.split('\n').length <= 300, `${file} is too long`)
  }
})
