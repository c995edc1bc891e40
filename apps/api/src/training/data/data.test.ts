// Reading files: what the formats have in common, and what each says about a file that is wrong.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DataProblem } from '../data-problem.ts'
import { categoriesOf } from './categories.ts'
import { Database } from './database.ts'
import { withDataset } from './dataset.ts'
import { readTable } from './read-table.ts'
import { scanFile } from './scan.ts'
import type { Format } from './source-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'amphi-data-'))
after(() => rmSync(folder, { recursive: true }))
const limits = { threads: 2, memoryBytes: 256 << 20, scratchFolder: join(folder, 'scratch') }

let written = 0
function file(name: string, content: string | Buffer = '') {
  const path = join(folder, `${++written}-${name}`)
  writeFileSync(path, content)
  return { path, name }
}

async function parquet(name: string, sql: string) {
  const made = file(name)
  const database = await Database.open(limits)
  await database.rows(`COPY (${sql}) TO '${made.path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`)
  database.close()
  return made
}

async function read(format: Format, files: { path: string; name: string }[]) {
  return withDataset(files, format, limits, async (dataset) => {
    const texts = dataset.columns.filter(({ kind }) => kind === 'text').map(({ name }) => name)
    const categories = await categoriesOf(dataset, texts)
    const table = await readTable(
      dataset,
      dataset.columns.map(({ name, kind }) =>
        kind === 'text' ? { name, kind: 'category', categories: categories.get(name)! } : { name, kind: 'number' },
      ),
    )
    return Object.fromEntries(
      table.columns.map((column) => [
        column.name,
        column.kind === 'number'
          ? [...column.values]
          : [...column.codes].map((code) => column.categories[code] ?? null),
      ]),
    )
  })
}

const wanted = { age: [31, Number.NaN, 2.5], city: ['Turin', null, 'Łódź, "old"'], y: [0, 1, 1] }

test('the three formats give the same table', async () => {
  const csv = file('a.csv', 'age,city,y\n31,Turin,0\n,,1\n2.5,"Łódź, ""old""",1\n')
  const ndjson = file(
    'a.ndjson',
    '{"age":31,"city":"Turin","y":0}\n{"age":null,"y":1}\n{"age":2.5,"city":"Łódź, \\"old\\"","y":1}\n',
  )
  const rows = `(VALUES (31::DOUBLE, 'Turin', 0), (NULL, NULL, 1), (2.5, 'Łódź, "old"', 1)) t(age, city, y)`
  assert.deepEqual(await read('csv', [csv]), wanted)
  assert.deepEqual(await read('ndjson', [ndjson]), wanted)
  assert.deepEqual(await read('parquet', [await parquet('a.parquet', `SELECT * FROM ${rows}`)]), wanted)
})

test('several files make one table in the order they are named, whatever the order of their columns', async () => {
  const one = file('one.csv', 'a;b\r\n1;x\r\n2;y\r\n')
  const two = file('two.csv', '\uFEFFb,a\nz,3\n')
  assert.deepEqual(await read('csv', [two, one]), { b: ['z', 'x', 'y'], a: [3, 1, 2] })
})

test('rows keep their order over many row groups and several threads', async () => {
  const { i } = await read('parquet', [await parquet('long.parquet', 'SELECT i FROM range(100000) t(i)')])
  assert.ok(i!.every((value, row) => value === row))
})

test('a column is text when a single late value is, and infinite numbers are missing', async () => {
  const late = `n,v\n${'1,1\n'.repeat(50_000)}a,inf\n`
  const { n, v } = await read('csv', [file('late.csv', late)])
  assert.deepEqual([n![0], n![50_000]], ['1', 'a'])
  assert.deepEqual([v![0], v![50_000]], [1, Number.NaN])
})

test('a text in NDJSON that is no number of JSON is text, and one that is counts as a number', async () => {
  const texts = { a: '1_000', b: '00501', c: '+1', d: '1 ', e: '\t1', f: '1\v' }
  const made = file('texts.ndjson', `${JSON.stringify({ ...texts, g: '-1.5e3' })}\n`)
  const wanted = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, [text]]))
  assert.deepEqual(await read('ndjson', [made]), { ...wanted, g: [-1500] })
})

test('dates and times in Parquet are seconds, booleans are text', async () => {
  const made = await parquet(
    't.parquet',
    `SELECT DATE '1970-01-02' AS d, TIMESTAMP '1970-01-01 00:00:01.5' AS t, true AS b`,
  )
  assert.deepEqual(await read('parquet', [made]), { d: [86_400], t: [1.5], b: ['true'] })
})

test('a scan tells names, types, missing values and rows', async () => {
  const scanned = await scanFile(file('s.csv', 'n,"a name",x\n1,u,\n2.5,,\n'), 'csv', limits)
  assert.deepEqual(scanned, {
    rows: 2,
    columns: [
      { name: 'n', type: 'DOUBLE', kind: 'number', nulls: 0 },
      { name: 'a name', type: 'VARCHAR', kind: 'text', nulls: 1 },
      { name: 'x', type: 'BIGINT', kind: 'number', nulls: 2 },
    ],
  })
  const nested = await parquet('s.parquet', `SELECT [1, 2] AS list, 'x' AS word`)
  const kinds = (await scanFile(nested, 'parquet', limits)).columns.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['other', 'text'])
})

test('a file that grows or shrinks after it was looked through is told as changed', async () => {
  for (const changed of ['a\n1\n', `a\n${'1\n'.repeat(9000)}`]) {
    const made = file('c.csv', 'a\n1\n2\n')
    const reading = withDataset([made], 'csv', limits, (dataset) => {
      writeFileSync(made.path, changed)
      return readTable(dataset, [{ name: 'a', kind: 'number' }])
    })
    await assert.rejects(reading, /^DataProblem: c\.csv changed while it was being read/)
  }
})

const broken: [string, Format, () => Promise<{ path: string; name: string }[]>, RegExp][] = [
  [
    'an open quote',
    'csv',
    async () => [file('q.csv', 'a,b\n1,"x\n2,y\n')],
    /^q\.csv, line 2: a quoted value is not closed/,
  ],
  [
    'a short line',
    'csv',
    async () => [file('r.csv', 'a,b\n1,x\n2\n')],
    /^r\.csv, line 3: 1 values where the header has 2/,
  ],
  ['bytes that are not UTF-8', 'csv', async () => [file('l.csv', Buffer.from('a\ncaf\xe9\n', 'latin1'))], /not UTF-8/],
  ['an empty file', 'csv', async () => [file('e.csv')], /^e\.csv is empty/],
  ['a header alone', 'csv', async () => [file('h.csv', 'a,b\n')], /^h\.csv: there are no rows/],
  ['a repeated name', 'csv', async () => [file('d.csv', 'a,a\n1,2\n')], /^d\.csv: the column a is there twice/],
  [
    'half an object',
    'ndjson',
    async () => [file('j.ndjson', '{"a":1}\n{"a":\n')],
    /^j\.ndjson, line 2: this is not a JSON/,
  ],
  [
    'a line that is no object',
    'ndjson',
    async () => [file('n.ndjson', '{"a":1}\n5\n')],
    /^n\.ndjson, line 2: this is not a JSON/,
  ],
  [
    'names that differ in case only',
    'ndjson',
    async () => [file('k.ndjson', '{"a":1,"A":2}\n')],
    /^k\.ndjson: a column name/,
  ],
  ['a Parquet file cut short', 'parquet', cutShort, /^cut\.parquet: this is not a whole Parquet file/],
  ['a damaged Parquet file', 'parquet', damaged, /^bad\.parquet: the file is damaged/],
  [
    'a vanished file',
    'csv',
    async () => [{ path: join(folder, 'gone'), name: 'gone.csv' }],
    /^gone\.csv: .* no longer there/,
  ],
  [
    'a lacking column',
    'csv',
    async () => [file('1.csv', 'a,b\n1,2\n'), file('2.csv', 'a\n1\n')],
    /^2\.csv: no column b, which 1\.csv/,
  ],
  [
    'an extra column',
    'csv',
    async () => [file('1.csv', 'a\n1\n'), file('2.csv', 'a,c\n1,2\n')],
    /^2\.csv: the column c is not in 1/,
  ],
  ['another type', 'parquet', otherType, /^n2\.parquet: the column a is VARCHAR, but INTEGER in n1\.parquet/],
]

async function cutShort() {
  const whole = await parquet('cut.parquet', 'SELECT i FROM range(10000) t(i)')
  truncateSync(whole.path, 5000)
  return [whole]
}

async function damaged() {
  const made = await parquet('bad.parquet', `SELECT 'word ' || hash(i) AS t FROM range(3000) t(i)`)
  writeFileSync(made.path, readFileSync(made.path).fill(7, 100, 4000))
  return [made]
}

async function otherType() {
  return [await parquet('n1.parquet', 'SELECT 1 AS a'), await parquet('n2.parquet', `SELECT 'x' AS a`)]
}

for (const [what, format, make, message] of broken) {
  test(`${what} is told by the file's own name and never by its place on disk`, async () => {
    await assert.rejects(
      make().then((files) => read(format, files)),
      (error) => {
        assert.ok(error instanceof DataProblem, String(error))
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /amphi-data/)
        return true
      },
    )
  })
}
