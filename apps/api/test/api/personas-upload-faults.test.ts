// Uploads that are refused: bad rows, hostile files, broken forms, and clients that leave (contract 4.2.12).
import assert from 'node:assert/strict'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { sweepUploads } from '../../src/resources/personas/uploads-store.ts'
import { FORM_TYPE, type FormFile, form } from '../support/forms.ts'
import { type Service, startService, until } from '../support/service.ts'
import { csv, UploadSpace } from '../support/uploads.ts'
import { rowsXml, workbook } from '../support/xlsx.ts'

let service: Service
let here: UploadSpace

before(async () => {
  service = await startService({ env: { UPLOAD_LIMIT_BYTES: '5000000' } })
  await service.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => service.close())

describe('files with faults', () => {
  before(async () => {
    here = await UploadSpace.in(service)
  })
  const header = 'name,notes,birthdate\n'
  const refused = async (...files: FormFile[]) => {
    const { status, body } = await here.upload(...files)
    assert.equal(status, 400, JSON.stringify(body))
    assert.equal(body.error.type, 'invalid_request_error')
    return body.error
  }
  const cases: [string, FormFile, { line?: number; param?: string; says: RegExp }][] = [
    ['no bytes', { name: 'a.csv', contents: '' }, { line: 1, says: /empty/ }],
    ['a header alone', { name: 'a.csv', contents: header }, { says: /no personas/ }],
    ['an empty array', { name: 'a.json', contents: '[]' }, { says: /no personas/ }],
    ['another extension', { name: 'a.pdf', contents: '%PDF' }, { says: /\.csv, \.json, \.ndjson/ }],
    ['an extension like something of the language', { name: 'a.constructor', contents: header }, { says: /\.csv/ }],
    [
      'more columns than anyone has',
      { name: 'a.csv', contents: `${header.trim()},${Array.from({ length: 150_000 }, (_, n) => n)}\n` },
      { line: 1, says: /more than 1000 columns/ },
    ],
    ['no name', { name: '', contents: header }, { says: /name of the file/ }],
    ['a workbook called CSV', { name: 'a.csv', contents: workbook('') }, { line: 1, says: /Excel/ }],
    ['CSV called workbook', { name: 'a.xlsx', contents: header }, { says: /not a workbook/ }],
    ['CSV called JSON', { name: 'a.json', contents: header }, { line: 1, says: /array/ }],
    [
      'JSON called CSV',
      { name: 'a.csv', contents: '[{"name":"x"}]' },
      { line: 1, says: /missing: name, notes, birthdate/ },
    ],
    ['semicolons', { name: 'a.csv', contents: 'name;notes;birthdate\nA;b;1990-01-01\n' }, { line: 1, says: /commas/ }],
    ['a column missing', { name: 'a.csv', contents: 'name,notes\nA,b\n' }, { line: 1, says: /missing: birthdate/ }],
    ['a column twice', { name: 'a.csv', contents: 'name,notes,birthdate,x,x\n' }, { line: 1, says: /Two columns/ }],
    [
      'lines that end in CR',
      { name: 'a.csv', contents: 'name,notes,birthdate\rA,b,1990-01-01\r' },
      { line: 1, says: /CR alone/ },
    ],
    ['UTF-16', { name: 'a.csv', contents: Buffer.from(`\ufeff${header}`, 'utf16le') }, { line: 1, says: /UTF-16/ }],
    [
      'Latin-1',
      { name: 'a.csv', contents: Buffer.from(`${header}A,b,1990-01-01\nJosé,b,1990-01-01\n`, 'latin1') },
      { line: 3, says: /UTF-8/ },
    ],
    ['a NUL character', { name: 'a.csv', contents: `${header}A\0,b,1990-01-01\n` }, { line: 2, says: /NUL/ }],
    [
      'a NUL character in JSON',
      { name: 'a.json', contents: '[{"name":"\\u0000","notes":"","birthdate":"1990-01-01"}]' },
      { line: 1, param: 'name', says: /NUL/ },
    ],
    [
      'half a surrogate pair',
      { name: 'a.json', contents: '[{"name":"a","notes":"","birthdate":"1990-01-01","x":"\\ud800"}]' },
      { line: 1, param: 'x', says: /surrogate/ },
    ],
    [
      'nesting without end',
      {
        name: 'a.json',
        contents: `[{"name":"a","notes":"","birthdate":"1990-01-01","x":${'['.repeat(9999)}${']'.repeat(9999)}}]`,
      },
      { line: 1, param: 'x', says: /nested/ },
    ],
    [
      'an endless line',
      { name: 'a.csv', contents: header + 'x'.repeat(2_000_000) },
      { line: 2, says: /longer than 1048576/ },
    ],
    ['an endless line of JSON', { name: 'a.ndjson', contents: 'x'.repeat(2_000_000) }, { line: 1, says: /longer/ }],
    ['an open quote', { name: 'a.csv', contents: `${header}"A,b,1990-01-01\n` }, { line: 2, says: /never closed/ }],
    [
      'a cell too many',
      { name: 'a.csv', contents: `${header}A,b,1990-01-01,c\n` },
      { line: 2, says: /4 cells, and there are 3/ },
    ],
    [
      'a bad date',
      { name: 'a.csv', contents: `${header}A,b,1990-01-01\nB,b,1990-02-30\n` },
      { line: 3, param: 'birthdate', says: /1990-12-31/ },
    ],
    [
      'an empty name in a row',
      { name: 'a.csv', contents: `${header},b,1990-01-01\n` },
      { line: 2, param: 'name', says: /required/ },
    ],
    [
      'a number for a name',
      { name: 'a.json', contents: '[{"name":5,"notes":"","birthdate":"1990-01-01"}]' },
      { line: 1, param: 'name', says: /text/ },
    ],
    [
      'a key both in data and beside it',
      { name: 'a.json', contents: '[{"name":"a","notes":"","birthdate":"1990-01-01","x":1,"data":{"x":2}}]' },
      { line: 1, param: 'x', says: /twice/ },
    ],
    [
      'a formula without a result',
      { name: 'a.xlsx', contents: workbook(`${rowsXml([['name', 'notes', 'birthdate']])}<row><c><f>A1</f></c></row>`) },
      { line: 2, param: 'name', says: /formula/ },
    ],
    [
      'a bomb for a workbook',
      { name: 'a.xlsx', contents: workbook('', { sharedTexts: '<si/>'.repeat(8_000_000) }) },
      { says: /too much/ },
    ],
  ]
  for (const [what, file, { line, param = 'files', says }] of cases) {
    test(`${what}: the answer names file, place and fault`, async () => {
      const error = await refused(file)
      assert.match(error.message, says)
      assert.equal(error.param, param)
      assert.deepEqual([error.details[0].file, error.details[0].line], [file.name, line])
    })
  }

  test('faults of several rows and files come together, each in its place', async () => {
    const { details, message } = await refused(
      { name: 'one.csv', contents: `${header},b,x\nok,b,1990-01-01\n` },
      { name: 'two.ndjson', contents: '{"name":"a"}\n\n{' },
      { name: 'three.txt', contents: '' },
    )
    assert.deepEqual(
      details.map(({ file, line, param }: { file: string; line?: number; param: string }) => [file, line, param]),
      [
        ['one.csv', 2, 'name'],
        ['one.csv', 2, 'birthdate'],
        ['two.ndjson', 1, 'notes'],
        ['two.ndjson', 1, 'birthdate'],
        ['two.ndjson', 3, 'files'],
        ['three.txt', undefined, 'files'],
      ],
    )
    assert.match(message, /and 5 more/)
  })

  test('a hundred faults are enough', async () => {
    const error = await refused({ name: 'a.csv', contents: header + 'A,b,never\n'.repeat(5000) })
    assert.equal(error.details.length, 100)
    assert.match(error.message, /first 100 problems/)
  })

  test('nothing of a refused upload remains, not even of its good files', async () => {
    here = await UploadSpace.in(service)
    const many = Array.from({ length: 5000 }, (_, n) => `P${n},${'x'.repeat(100)},1990-01-01,`)
    await refused(csv(...many), { name: 'bad.csv', contents: header })
    await sweepUploads(service.process.system)
    const left = await service.process.system`select upload_id from persona_upload_batches where space_id = ${here.id}`
    assert.equal(left.length, 0)
    assert.deepEqual(await here.personas(), [])
  })
})

describe('bodies that are no form of files', () => {
  before(async () => {
    here = await UploadSpace.in(service)
  })

  test('another type is 415, with a word about what is expected', async () => {
    for (const type of ['application/json', 'text/csv']) {
      const { status, body } = await here.send(Buffer.from('{}'), { 'content-type': type })
      assert.deepEqual([status, body.error.code], [415, 'unsupported_media_type'])
      assert.match(body.error.message, /multipart/)
    }
  })

  test('a form elsewhere is 415 as ever', async () => {
    const reply = await service.app.inject({
      method: 'POST',
      url: here.at,
      payload: form(csv()),
      headers: { authorization: `Bearer ${here.admin.token}`, 'content-type': FORM_TYPE },
    })
    assert.equal(reply.statusCode, 415)
  })

  for (const [what, payload, param] of [
    ['a form without files', form(), 'files'],
    ['a file in another field', form({ name: 'a.csv', contents: 'x', field: 'file' }), 'file'],
    ['a form that breaks off', form(csv('Ann,a,1990-12-31,')).subarray(0, 150), undefined],
    ['a body without the boundary', Buffer.from('name,notes,birthdate\n'), undefined],
    ['more than 20 files', form(...Array.from({ length: 21 }, () => csv('Ann,a,1990-12-31,'))), undefined],
  ] as const) {
    test(`${what} is 400`, async () => {
      const { status, body } = await here.send(payload)
      assert.deepEqual([status, body.error.param], [400, param], JSON.stringify(body))
    })
  }

  for (const [what, field, code, words] of [
    ['a field that nobody asked for', 'color', 'unknown_field', /not a field/],
    ['text where a file belongs', 'files', 'invalid_request', /send it as a file/],
  ] as const) {
    test(`${what} is 400 ${code} and named`, async () => {
      const text = form(csv('Ann,a,1990-12-31,'))
        .toString()
        .replace('name="files"; filename="people.csv"', `name="${field}"`)
      const { status, body } = await here.send(Buffer.from(text))
      assert.deepEqual([status, body.error.code, body.error.param], [400, code, field])
      assert.match(body.error.message, words)
    })
  }

  test('more than the limit is 413, said in advance or not', async () => {
    const rows = Array.from({ length: 60_000 }, (_, n) => `P${n},${'x'.repeat(80)},1990-01-01,`)
    const large = form(csv(...rows))
    const announced = await here.send(large)
    assert.deepEqual([announced.status, announced.body.error.code], [413, 'body_too_large'])

    const { port } = service.app.server.address() as AddressInfo
    const chunks = new Blob([large.subarray(0, 3_000_000), large.subarray(3_000_000)]).stream()
    const headers = { authorization: `Bearer ${here.admin.token}`, 'content-type': FORM_TYPE }
    const init = { method: 'POST', headers, body: chunks, duplex: 'half' } as RequestInit
    const streamed = await fetch(`http://127.0.0.1:${port}${here.at}/upload`, init)
    assert.equal(streamed.status, 413)
    assert.match(((await streamed.json()) as { error: { message: string } }).error.message, /5000000 bytes/)
  })

  test('a client that leaves in the middle leaves nothing to finalize', async () => {
    here = await UploadSpace.in(service)
    const { system } = service.process
    const { port } = service.app.server.address() as AddressInfo
    const rows = Array.from({ length: 10_000 }, (_, n) => `P${n},${'x'.repeat(100)},1990-01-01,`)
    const half = form(csv(...rows)).subarray(0, 900_000)
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${here.at}/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${here.admin.token}\r\nContent-Type: ${FORM_TYPE}\r\nContent-Length: 4000000\r\n\r\n`,
    )
    socket.write(half)
    const open = () =>
      system<
        { id: string; expired: boolean }[]
      >`select id, expires_at <= now() as expired from persona_uploads where token_hash is null`
    await until('rows are staged', async () => (await open()).some(({ expired }) => !expired))
    socket.destroy()
    await until('the upload is given up', async () => (await open()).every(({ expired }) => expired))
    await sweepUploads(system)
    assert.equal((await open()).length, 0)
  })
})
