// Records as texts: what goes in comes out of Postgres again.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { joinRecords, recordFormat, splitRecords } from '../src/storage/record-text.ts'
import { type Client, connect } from '../src/storage/sql.ts'
import { cloneDatabase } from './support/databases.ts'

const format = recordFormat({
  id: 'uuid',
  name: 'text',
  at: 'timestamptz',
  count: 'int',
  isSo: 'boolean',
  tags: 'text[]',
  things: 'json',
})
const ID = '0195d3c0-8f5e-7c31-9a43-1f0a6d2b7e55'

let database: Awaited<ReturnType<typeof cloneDatabase>>
let sql: Client
before(async () => {
  database = await cloneDatabase()
  sql = connect(database.url, { max: 1 })
})
after(async () => {
  await sql.end()
  await database.drop()
})

const read = async (records: readonly object[]) => [
  ...(await sql`select * from ${format.rows(sql, records.map(format.textOf))} as r`),
]

test('every type keeps its value, nothing stays nothing, and an empty text is not nothing', async () => {
  const whole = {
    id: ID,
    name: '',
    at: '2026-01-02T03:04:05.678Z',
    count: -7,
    isso: false,
    tags: [],
    things: { a: [1] },
  }
  const nothing = { id: undefined, name: undefined, at: undefined, count: undefined }
  const rows = await read([{ ...whole, isSo: false }, {}, { name: null, tags: null, things: null }])
  assert.deepEqual(rows[0], whole)
  assert.deepEqual(rows[2], rows[1])
  assert.deepEqual(rows[1], { ...nothing, isso: undefined, tags: undefined, things: undefined })
})

/** As the API lets them in: no NUL, no half of a surrogate pair. */
const text = fc.string({ unit: 'binary' }).map((any) => any.replaceAll('\0', '').toWellFormed())
const withoutMarks = (any: string) => any.replaceAll('\x1d', ' ').replaceAll('\x1e', ' ').replaceAll('\x1f', ' ')

test('any text survives in a column, in an array and in JSON, but for three characters outside of JSON that are its marks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ name: text, tags: fc.array(text), inside: text }), { minLength: 1 }),
      async (given) => {
        const rows = await read(given.map(({ name, tags, inside }) => ({ name, tags, things: { inside } })))
        assert.deepEqual(
          rows.map(({ name, tags, things }) => ({ name, tags, inside: things.inside })),
          given.map(({ name, tags, inside }) => ({
            name: withoutMarks(name),
            tags: tags.map(withoutMarks),
            inside,
          })),
        )
      },
    ),
    { numRuns: 100 },
  )
})

test('what cannot be stored is taken out', async () => {
  const odd = 'x\0y, half \ud800'
  const [row] = await read([{ name: odd, tags: [odd], things: { odd } }])
  const rest = 'xy, half \ufffd'
  assert.deepEqual([row!['name'], row!['tags'], row!['things']], [rest, [rest], { odd: rest }])
})

test('texts that were joined come apart again', () => {
  const texts = [{ name: 'a\nb' }, { name: '' }, {}].map(format.textOf)
  assert.deepEqual(splitRecords(joinRecords(texts)), texts)
  assert.deepEqual(splitRecords(joinRecords([])), [])
})
