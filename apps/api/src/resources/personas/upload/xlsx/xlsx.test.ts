// Workbooks as spreadsheet programs write them, and workbooks made to do harm.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { rowsXml, workbook, zip } from '../../../../../test/support/xlsx.ts'
import { Unreadable } from '../fault.ts'
import { readXlsx } from './xlsx.ts'

async function rowsOf(bytes: Buffer) {
  const rows = []
  for await (const group of readXlsx([bytes].values() as unknown as AsyncIterable<Uint8Array>)) rows.push(...group)
  return rows
}
const valuesOf = async (bytes: Buffer) => (await rowsOf(bytes)).map((row) => ('values' in row ? row.values : row.fault))
const refusalOf = async (bytes: Buffer) => {
  const error = await rowsOf(bytes).catch((thrown) => thrown)
  assert.ok(error instanceof Unreadable, String(error))
  return error.message
}

const header = rowsXml([['name', 'notes', 'birthdate', 'city']])
const cells = (...written: string[]) => workbook(`${header}<row r="2">${written.join('')}</row>`)
const ann = (...written: string[]) =>
  cells('<c r="A2" t="inlineStr"><is><t>Ann</t></is></c><c r="C2" s="1"><v>33238</v></c>', ...written)

describe('a workbook', () => {
  test('gives its first sheet, texts and numbers and dates as they are meant', async () => {
    const rows = rowsXml([
      ['Name', 'notes', 'birthdate', 'score', 'city'],
      ['Ann', 'likes <tea> & cake', '1990-12-31', 4.5, 'Oslo'],
      ['Bob', 42, 33238],
    ])
    assert.deepEqual(await valuesOf(workbook(rows)), [
      { name: 'Ann', notes: 'likes <tea> & cake', birthdate: '1990-12-31', score: 4.5, city: 'Oslo' },
      { name: 'Bob', notes: '42', birthdate: '1990-12-31' },
    ])
  })

  test('may share its texts, in several runs, with hints that do not count', async () => {
    const sharedTexts =
      '<si><t>name</t></si><si><t>notes</t></si><si><t>birthdate</t></si>' +
      '<si><r><t>An</t></r><r><t xml:space="preserve">n B</t></r><rPh><t>hint</t></rPh></si><si><t>2000-02-29</t></si>'
    const shared = (...at: number[]) => at.map((n) => `<c t="s"><v>${n}</v></c>`).join('')
    const bytes = workbook(`<row>${shared(0, 1, 2)}</row><row>${shared(3)}<c t="s"><v/></c>${shared(4)}</row>`, {
      sharedTexts,
    })
    assert.deepEqual(await valuesOf(bytes), [{ name: 'Ann B', notes: '', birthdate: '2000-02-29' }])
  })

  test('may count its days from 1904', async () => {
    const rows = rowsXml([
      ['name', 'notes', 'birthdate'],
      ['Ann', '', 31776],
    ])
    assert.deepEqual(await valuesOf(workbook(rows, { date1904: true })), [
      { name: 'Ann', notes: '', birthdate: '1990-12-31' },
    ])
  })

  test('shows dates of other columns as dates, with the time where there is one', async () => {
    const [plain] = await valuesOf(ann('<c r="D2" s="1"><v>45292</v></c>'))
    assert.deepEqual(plain, { name: 'Ann', notes: '', birthdate: '1990-12-31', city: '2024-01-01' })
    const [timed] = await valuesOf(ann('<c r="D2" s="1"><v>45292.5</v></c>'))
    assert.equal((timed as { city: string }).city, '2024-01-01T12:00:00')
  })

  test('gives what a formula came to', async () => {
    const [row] = await valuesOf(ann('<c r="D2" t="str"><f>UPPER("oslo")</f><v>OSLO</v></c>'))
    assert.equal((row as { city: string }).city, 'OSLO')
  })

  test('with a formula that came to nothing yet names row and column', async () => {
    const rows = await rowsOf(ann('<c r="D2"><f>1+1</f></c>'))
    assert.deepEqual([rows[0]!.line, (rows[0] as { field: string }).field], [2, 'city'])
    assert.match((rows[0] as { fault: string }).fault, /formula without a result/)
  })

  test('with an error in a cell says which', async () => {
    assert.match(String((await valuesOf(ann('<c r="D2" t="e"><v>#REF!</v></c>')))[0]), /#REF!/)
  })

  test('with more cells than columns is faulty in that row', async () => {
    assert.match(String((await valuesOf(ann('<c r="E2"><v>1</v></c>')))[0]), /5 cells/)
  })

  test('with rows that reach far to the right takes no more memory for it', async () => {
    const far = Array.from({ length: 20_000 }, () => '<row><c r="XFD1"><v>1</v></c></row>').join('')
    const before = process.memoryUsage().rss
    const rows = await rowsOf(workbook(`${header}${far}`))
    assert.equal(rows.length, 20_000)
    assert.ok(process.memoryUsage().rss - before < 150_000_000)
  })

  test('keeps the row numbers of the sheet', async () => {
    const bytes = workbook(`${header}<row r="7"><c r="A7"><v>1</v></c></row>`)
    assert.equal((await rowsOf(bytes))[0]!.line, 7)
  })
})

describe('a workbook that cannot be read', () => {
  test('is not a workbook at all', async () => {
    assert.match(await refusalOf(Buffer.from('name,notes,birthdate\n')), /damaged/)
    assert.match(await refusalOf(zip([{ name: 'a.txt', bytes: Buffer.from('a') }])), /damaged/)
    assert.match(await refusalOf(Buffer.alloc(0)), /empty/)
  })

  test('is of the old kind, or behind a password', async () => {
    assert.match(await refusalOf(Buffer.from('d0cf11e0a1b11ae1', 'hex')), /password/)
  })

  test('was cut off or damaged on the way', async () => {
    const whole = workbook(
      rowsXml([
        ['name', 'notes', 'birthdate'],
        ['Ann', '', '1990-12-31'],
      ]),
    )
    assert.match(await refusalOf(whole.subarray(0, whole.length - 30)), /damaged/)
    const damaged = Buffer.from(whole)
    damaged.fill(
      0x55,
      damaged.indexOf('xl/worksheets/sheet1.xml') + 30,
      damaged.indexOf('xl/worksheets/sheet1.xml') + 60,
    )
    assert.match(await refusalOf(damaged), /damaged|not valid XML/)
  })

  test('says of itself that it unpacks to more than there may be', async () => {
    const bytes = zip([{ name: 'xl/workbook.xml', bytes: Buffer.from('<workbook/>'), claimedSize: 4_000_000_000 }])
    assert.match(await refusalOf(bytes), /too much/)
  })

  test('lies about its size: unpacking stops at the maximum', { timeout: 60_000 }, async () => {
    const bomb = zip([
      { name: 'xl/workbook.xml', bytes: Buffer.from(`<workbook>${'<a/>'.repeat(12_000_000)}`), claimedSize: 100 },
    ])
    assert.ok(bomb.length < 100_000)
    assert.match(await refusalOf(bomb), /too much/)
  })

  test('brings a document type, which could bring entities without end', async () => {
    const bytes = zip([
      { name: 'xl/workbook.xml', bytes: Buffer.from('<!DOCTYPE x [<!ENTITY a "aaaa">]><workbook>&a;</workbook>') },
    ])
    assert.match(await refusalOf(bytes), /not valid XML/)
  })

  test('holds a text without end, however it is dressed up', async () => {
    for (const start of ['<row>', '<!--', '<![CDATA[', '<row r="']) {
      assert.match(await refusalOf(workbook(`${start}${'> '.repeat(1_000_000)}`)), /not valid XML/)
    }
  })

  test('has no rows', async () => {
    assert.match(await refusalOf(workbook('')), /empty/)
  })
})
