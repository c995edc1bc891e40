// Both directions of the exchange with LightGBM: its models predict here as there, and ours there as here.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Column } from '../data/table.ts'
import { type Encoding, parseEncoding } from '../encoding.ts'
import { parseModel } from '../model.ts'
import { readLightgbm } from './lightgbm-reader.ts'
import { writeLightgbm } from './lightgbm-writer.ts'
import { safeNames } from './safe-names.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../../test/fixtures/training/${name}`, import.meta.url), 'utf8')

interface Sample {
  rows: (number | null)[][]
  probabilities: Record<string, number[]>
}

function columnsOf({ features }: Encoding, rows: Sample['rows']): Column[] {
  return features.map((feature, at) => {
    const values = rows.map((row) => row[at] ?? Number.NaN)
    if (feature.kind === 'number') return { name: feature.name, kind: 'number', values: Float64Array.from(values) }
    const codes = Int32Array.from(values, (code) => (Number.isNaN(code) ? -1 : code))
    return { name: feature.name, kind: 'category', codes, categories: feature.categories }
  })
}

for (const writer of ['lightgbm', 'amphi']) {
  const encoding = parseEncoding(fixture(`${writer}-encoding.json`))
  const sample: Sample = JSON.parse(fixture(`${writer}-rows.json`))
  for (const [name, wanted] of Object.entries(sample.probabilities)) {
    const file = name === writer ? `${name}.txt` : `${writer}-${name}.txt`
    test(`${file} predicts here as in LightGBM`, () => {
      const predicted = parseModel(fixture(file), encoding).predict(
        columnsOf(encoding, sample.rows),
        sample.rows.length,
      )
      predicted.forEach((probability, row) => {
        assert.ok(Math.abs(probability - wanted[row]!) <= 1e-9, `row ${row}: ${probability}, not ${wanted[row]}`)
      })
    })
  }
}

test('a model written here is the same file after it was read and written again', () => {
  const text = fixture('amphi.txt')
  assert.equal(writeLightgbm(readLightgbm(text)), text)
})

test('the sizes in the header are those of the tree blocks', () => {
  const text = fixture('amphi.txt')
  const sizes = /^tree_sizes=(.*)$/m.exec(text)![1]!.split(' ').map(Number)
  let at = text.indexOf('Tree=0')
  for (const [number, size] of sizes.entries()) {
    assert.ok(text.startsWith(`Tree=${number}\n`, at))
    at += size
  }
  assert.ok(text.startsWith('end of trees', at))
})

test('feature names that LightGBM would not take are changed and stay different', () => {
  assert.deepEqual(safeNames(['a b', 'a_b', 'a=b', 'Łódź', '{"x"}']), ['a_b', 'a_b_1', 'a_b_2', 'Łódź', '__x__'])
})

const whole = fixture('lightgbm-nan.txt')
const refused: [string, string, RegExp][] = [
  ['an empty file', '', /damaged/],
  ['a file cut short', whole.slice(0, whole.length / 2), /damaged: it has no trees/],
  ['a regression', whole.replace('objective=binary sigmoid:1', 'objective=regression'), /its objective is regression/],
  ['many classes', whole.replace('num_class=1', 'num_class=3'), /more than two classes/],
  ['linear leaves', whole.replace('is_linear=0', 'is_linear=1'), /linear/],
  ['a lacking number', whole.replace(/(leaf_value=\S+) \S+/, '$1'), /leaf_value is not 8 numbers/],
  ['a word for a number', whole.replace(/threshold=\S+/, 'threshold=x'), /threshold is not 7 numbers/],
  ['a pointer in a circle', whole.replace(/left_child=\S+/, 'left_child=0'), /leads nowhere/],
  ['an unknown feature', whole.replace(/split_feature=\S+/, 'split_feature=9'), /feature that is not there/],
]

for (const [what, text, message] of refused) {
  test(`${what} is refused with its reason`, () => assert.throws(() => readLightgbm(text), message))
}

test('a model and an encoding of different widths do not go together', () => {
  const encoding = parseEncoding(fixture('lightgbm-encoding.json'))
  const narrow = { ...encoding, features: encoding.features.slice(1) }
  assert.throws(() => parseModel(whole, narrow), /4 inputs, but its feature encoding has 3/)
})
