// Uploads of personas as a client sees them (contract 3.7, 4.2.12).
import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { connect as connectSocket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { sweepUploads } from '../../src/resources/personas/uploads-store.ts'
import { FORM_TYPE, type FormFile, form } from '../support/forms.ts'
import { type Person, type Reply, type Service, startService, toReply, until } from '../support/service.ts'
import { rowsXml, workbook } from '../support/xlsx.ts'

let service: Service
let admin: Person
let at: string

before(async () => {
  service = await startService({ env: { UPLOAD_LIMIT_BYTES: '5000000' } })
  await service.app.listen({ port: 0, host: '127.0.0.1' })
})
after(() => service.close())

/** A space of its own for every test, so that their personas do not meet. */
async function aSpace(): Promise<string> {
  const founder = await service.signIn('ana', ['admins'])
  const { body } = await founder.call('POST', '/v1/spaces', { name: 'uploads', description: '' })
  admin = await service.signIn('ana', ['admins'])
  at = `/v1/spaces/${body.id}/personas`
  return body.id
}

async function send(payload: Buffer, headers: Record<string, string> = {}, person = admin): Promise<Reply> {
  return toReply(
    await service.app.inject({
      method: 'POST',
      url: `${at}/upload`,
      payload,
      headers: { authorization: `Bearer ${person.token}`, 'content-type': FORM_TYPE, ...headers },
    }),
  )
}
const upload = (...files: FormFile[]) => send(form(...files))
const csv = (...rows: string[]) => ({
  name: 'people.csv',
  contents: ['name,notes,birthdate,city', ...rows, ''].join('\n'),
})
const finalize = (token: string, conflict_resolution?: string, person = admin) =>
  person.call('POST', `${at}/upload/finalize`, {
    upload_token: token,
    ...(conflict_resolution && { conflict_resolution }),
  })
const staged = async (...files: FormFile[]) => {
  const { status, body } = await upload(...files)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
const personas = async (): Promise<any[]> => (await admin.call('GET', `${at}?limit=1000`)).body.data.reverse()
const brief = async () => (await personas()).map(({ name, notes }) => `${name}: ${notes}`)

describe('files of every kind', () => {
  const expected = [
    { name: 'Ann', notes: 'likes tea, and "cake"', birthdate: '1990-12-31', data: { city: 'Oslo' } },
    { name: 'Zoë', notes: '', birthdate: '2000-02-29' },
  ]
  const objects = expected.map(({ data, ...rest }) => ({ ...rest, ...data }))
  const table = [
    ['name', 'notes', 'birthdate', 'city'],
    ...objects.map((p) => [p.name, p.notes, p.birthdate, (p as { city?: string }).city]),
  ]
  const text = 'name,notes,birthdate,city\nAnn,"likes tea, and ""cake""",1990-12-31,Oslo\nZoë,,2000-02-29,\n'
  for (const file of [
    { name: 'a.csv', contents: text },
    { name: 'b.CSV', contents: `\ufeff${text.replaceAll('\n', '\r\n')}` },
    { name: 'c.json', contents: JSON.stringify(expected, null, 2) },
    { name: 'd.json', contents: JSON.stringify(objects) },
    { name: 'e.ndjson', contents: objects.map((object) => JSON.stringify(object)).join('\n') },
    { name: 'f.jsonl', contents: objects.map((object) => `${JSON.stringify(object)}\r\n`).join('') },
    { name: 'g.xlsx', contents: workbook(rowsXml(table)) },
  ]) {
    test(`${file.name} is staged unseen, and finalizing makes its personas in their order`, async () => {
      await aSpace()
      const answer = await staged(file)
      assert.deepEqual([answer.status, answer.total, answer.conflict_personas], ['staged', 2, []])
      assert.deepEqual(await personas(), [])
      const { status, body } = await finalize(answer.upload_token)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.status, body.total_uploaded, body.conflicts_resolved], ['finalized', 2, 0])
      const made = (await personas()).map(({ id, created_at, ...rest }) => rest)
      assert.deepEqual(
        made,
        expected.map((persona) => ({ ...persona, created_by: 'ana' })),
      )
    })
  }

  test('several files come in one upload', async () => {
    await aSpace()
    const answer = await staged(csv('Ann,a,1990-12-31,'), {
      name: 'more.json',
      contents: '[{"name":"Bob","notes":"b","birthdate":"1990-01-01"}]',
    })
    assert.equal(answer.total, 2)
    await finalize(answer.upload_token)
    assert.deepEqual(await brief(), ['Ann: a', 'Bob: b'])
  })

  test('a data column holds an object that the other columns join', async () => {
    await aSpace()
    const answer = await staged({
      name: 'p.csv',
      contents: 'name,notes,birthdate,data,city\nAnn,,1990-12-31,"{""a"":[1]}",Oslo\nBob,,1990-12-31,,\n',
    })
    await finalize(answer.upload_token)
    assert.deepEqual(
      (await personas()).map(({ data }) => data),
      [{ a: [1], city: 'Oslo' }, undefined],
    )
  })

  test('a column may be named like something of the language, and stays a column', async () => {
    await aSpace()
    const answer = await staged({
      name: 'p.csv',
      contents: 'name,notes,birthdate,__proto__,constructor\nAnn,,1990-12-31,x,y\n',
    })
    await finalize(answer.upload_token)
    assert.equal(JSON.stringify((await personas())[0].data), '{"__proto__":"x","constructor":"y"}')
  })
})

describe('conflicts', () => {
  const known = async () => {
    await aSpace()
    const { upload_token } = await staged(csv('Ann,old,1990-12-31,Oslo', 'Bob,old,1990-01-01,'))
    await finalize(upload_token)
    return staged(
      csv('Ann,new,1990-12-31,Rome', 'Ann,other,1991-12-31,', 'Cid,first,1980-01-01,', 'Cid,second,1980-01-01,'),
    )
  }

  test('are rows of the name and birthdate of a persona, or of an earlier row', async () => {
    const { conflict_personas, message } = await known()
    const expected = [
      { name: 'Ann', birthdate: '1990-12-31' },
      { name: 'Cid', birthdate: '1980-01-01' },
    ]
    assert.deepEqual(conflict_personas, expected)
    assert.match(message, /2 of them in conflict/)
  })

  for (const [resolution, uploaded, expected] of [
    [undefined, 2, ['Ann: old', 'Bob: old', 'Ann: other', 'Cid: first']],
    ['skip', 2, ['Ann: old', 'Bob: old', 'Ann: other', 'Cid: first']],
    ['overwrite', 3, ['Ann: new', 'Bob: old', 'Ann: other', 'Cid: second']],
    ['create', 4, ['Ann: old', 'Bob: old', 'Ann: new', 'Ann: other', 'Cid: first', 'Cid: second']],
  ] as const) {
    test(`are resolved by ${resolution ?? 'skipping unless told'}`, async () => {
      const { upload_token } = await known()
      const { body } = await finalize(upload_token, resolution)
      assert.deepEqual([body.total_uploaded, body.conflicts_resolved], [uploaded, 2])
      assert.deepEqual(await brief(), expected)
    })
  }

  test('overwriting replaces notes and data, keeps the identifier, and is signed', async () => {
    const { upload_token } = await known()
    const [before] = await personas()
    await finalize(upload_token, 'overwrite')
    const [persona] = await personas()
    assert.equal(persona.id, before.id)
    assert.deepEqual([persona.notes, persona.data, persona.updated_by], ['new', { city: 'Rome' }, 'ana'])
    assert.equal((await personas())[1].updated_at, undefined)
  })

  test('of several personas that could be meant, the newest is overwritten', async () => {
    await aSpace()
    for (const notes of ['older', 'newer'])
      await admin.call('POST', at, { name: 'Ann', notes, birthdate: '1990-12-31' })
    const { upload_token } = await staged(csv('Ann,new,1990-12-31,'))
    await finalize(upload_token, 'overwrite')
    assert.deepEqual(await brief(), ['Ann: older', 'Ann: new'])
  })

  test('are looked for again when finalizing', async () => {
    await aSpace()
    const { upload_token, conflict_personas } = await staged(csv('Ann,a,1990-12-31,'))
    assert.deepEqual(conflict_personas, [])
    await admin.call('POST', at, { name: 'Ann', notes: 'meanwhile', birthdate: '1990-12-31' })
    assert.equal((await finalize(upload_token)).body.conflicts_resolved, 1)
    assert.deepEqual(await brief(), ['Ann: meanwhile'])
  })

  test('beyond a hundred are counted and not shown', async () => {
    await aSpace()
    const rows = Array.from({ length: 250 }, () => 'Ann,a,1990-12-31,')
    const { conflict_personas, message } = await staged(csv(...rows))
    assert.equal(conflict_personas.length, 100)
    assert.match(message, /249 of them/)
  })

  test('personas of another space are no conflict', async () => {
    await aSpace()
    const { upload_token } = await staged(csv('Ann,a,1990-12-31,'))
    await finalize(upload_token)
    await aSpace()
    assert.deepEqual((await staged(csv('Ann,a,1990-12-31,'))).conflict_personas, [])
  })
})

describe('files with faults', () => {
  before(aSpace)
  const header = 'name,notes,birthdate\n'
  const refused = async (...files: FormFile[]) => {
    const { status, body } = await upload(...files)
    assert.equal(status, 400, JSON.stringify(body))
    assert.equal(body.error.type, 'invalid_request_error')
    return body.error
  }
  const cases: [string, FormFile, { line?: number; param?: string; says: RegExp }][] = [
    ['no bytes', { name: 'a.csv', contents: '' }, { line: 1, says: /empty/ }],
    ['a header alone', { name: 'a.csv', contents: header }, { says: /no personas/ }],
    ['an empty array', { name: 'a.json', contents: '[]' }, { says: /no personas/ }],
    ['another extension', { name: 'a.pdf', contents: '%PDF' }, { says: /\.csv, \.json, \.ndjson/ }],
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
    const space = await aSpace()
    const many = Array.from({ length: 5000 }, (_, n) => `P${n},${'x'.repeat(100)},1990-01-01,`)
    await refused(csv(...many), { name: 'bad.csv', contents: header })
    await sweepUploads(service.process.system)
    const left = await service.process.system`select upload_id from persona_upload_batches where space_id = ${space}`
    assert.equal(left.length, 0)
    assert.deepEqual(await personas(), [])
  })
})

describe('bodies that are no form of files', () => {
  before(aSpace)

  test('another type is 415, with a word about what is expected', async () => {
    for (const type of ['application/json', 'text/csv']) {
      const { status, body } = await send(Buffer.from('{}'), { 'content-type': type })
      assert.deepEqual([status, body.error.code], [415, 'unsupported_media_type'])
      assert.match(body.error.message, /multipart/)
    }
  })

  test('a form elsewhere is 415 as ever', async () => {
    const reply = await service.app.inject({
      method: 'POST',
      url: at,
      payload: form(csv()),
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': FORM_TYPE },
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
      const { status, body } = await send(payload)
      assert.deepEqual([status, body.error.param], [400, param], JSON.stringify(body))
    })
  }

  test('a field that is no file is 400 and named', async () => {
    const text = form(csv('Ann,a,1990-12-31,'))
      .toString()
      .replace('name="files"; filename="people.csv"', 'name="color"')
    const { status, body } = await send(Buffer.from(text))
    assert.deepEqual([status, body.error.param], [400, 'color'])
  })

  test('more than the limit is 413, said in advance or not', async () => {
    const rows = Array.from({ length: 60_000 }, (_, n) => `P${n},${'x'.repeat(80)},1990-01-01,`)
    const large = form(csv(...rows))
    const announced = await send(large)
    assert.deepEqual([announced.status, announced.body.error.code], [413, 'body_too_large'])

    const { port } = service.app.server.address() as AddressInfo
    const chunks = new Blob([large.subarray(0, 3_000_000), large.subarray(3_000_000)]).stream()
    const headers = { authorization: `Bearer ${admin.token}`, 'content-type': FORM_TYPE }
    const init = { method: 'POST', headers, body: chunks, duplex: 'half' } as RequestInit
    const streamed = await fetch(`http://127.0.0.1:${port}${at}/upload`, init)
    assert.equal(streamed.status, 413)
    assert.match(((await streamed.json()) as { error: { message: string } }).error.message, /5000000 bytes/)
  })

  test('a client that leaves in the middle leaves nothing to finalize', async () => {
    await aSpace()
    const { system } = service.process
    const { port } = service.app.server.address() as AddressInfo
    const rows = Array.from({ length: 10_000 }, (_, n) => `P${n},${'x'.repeat(100)},1990-01-01,`)
    const half = form(csv(...rows)).subarray(0, 900_000)
    const socket = connectSocket(port, '127.0.0.1')
    socket.write(
      `POST ${at}/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${admin.token}\r\nContent-Type: ${FORM_TYPE}\r\nContent-Length: 4000000\r\n\r\n`,
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

describe('the token', () => {
  const refusal = async (reply: Promise<Reply>) => {
    const { status, body } = await reply
    return [status, body.error.code]
  }

  test('works once', async () => {
    await aSpace()
    const { upload_token } = await staged(csv('Ann,a,1990-12-31,'))
    assert.equal((await finalize(upload_token)).status, 200)
    assert.deepEqual(await refusal(finalize(upload_token, 'create')), [409, 'conflict'])
    assert.equal((await personas()).length, 1)
  })

  test('works once, also when it is used twice at the same moment', async () => {
    await aSpace()
    const rows = Array.from({ length: 3000 }, (_, n) => `P${n},x,1990-01-01,`)
    const { upload_token } = await staged(csv(...rows))
    const replies = await Promise.all([1, 2, 3].map(() => finalize(upload_token, 'create')))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409])
    assert.equal((await admin.call('GET', at)).body.count, 3000)
  })

  test('is refused to another person, in another space, and when it is made up', async () => {
    const space = await aSpace()
    const { upload_token } = await staged(csv('Ann,a,1990-12-31,'))
    const bob = await service.bearing('bob', [`${space}:admins`])
    const expected = [400, 'upload_token_invalid']
    assert.deepEqual(await refusal(finalize(upload_token, undefined, bob)), expected)
    assert.deepEqual(await refusal(finalize('made up')), expected)
    await aSpace()
    assert.deepEqual(await refusal(finalize(upload_token)), expected)
    assert.deepEqual(await personas(), [])
  })

  test('is refused after a day, and what was staged is swept away', async () => {
    await aSpace()
    const { system } = service.process
    const { upload_token } = await staged(csv('Ann,a,1990-12-31,'))
    await system`update persona_uploads set expires_at = expires_at - interval '23 hours 59 minutes'`
    await sweepUploads(system)
    await system`update persona_uploads set expires_at = expires_at - interval '2 minutes'`
    assert.deepEqual(await refusal(finalize(upload_token)), [400, 'upload_token_invalid'])
    await sweepUploads(system)
    const [left] = await system`select count(*)::int as count from persona_upload_batches`
    assert.equal(left!['count'], 0)
  })

  test('is not kept as it is', async () => {
    await aSpace()
    const { upload_token } = await staged(csv('Ann,a,1990-12-31,'))
    const [found] = await service.process
      .system`select * from persona_uploads u where u::text like ${`%${upload_token}%`}`
    assert.equal(found, undefined)
  })

  test('of two uploads with the same rows, finalized at the same moment, one row each is made', async () => {
    await aSpace()
    const rows = Array.from({ length: 2000 }, (_, n) => `P${n},x,1990-01-01,`)
    const tokens = [await staged(csv(...rows)), await staged(csv(...rows))].map(({ upload_token }) => upload_token)
    const replies = await Promise.all(tokens.map((token) => finalize(token)))
    assert.deepEqual(replies.map(({ body }) => body.total_uploaded).sort(), [0, 2000])
    assert.equal((await admin.call('GET', at)).body.count, 2000)
  })
})

test('finalizing leaves one entry in the audit log, with the counts', async () => {
  await aSpace()
  const { upload_token } = await staged(csv('Ann,a,1990-12-31,', 'Bob,b,1990-12-31,'))
  await finalize(upload_token)
  const { body } = await admin.call('GET', '/v1/audit?limit=1')
  const [{ action, after, actor }] = body.data
  assert.deepEqual([action, actor], ['personas.finalize', 'ana'])
  assert.deepEqual(after, { conflict_resolution: 'skip', total_uploaded: 2, conflicts_resolved: 0 })
})

test('identifiers tell the order of the rows and the time of finalizing, not of uploading', async () => {
  await aSpace()
  const { upload_token } = await staged(csv('Ann,a,1990-12-31,', 'Bob,b,1990-12-31,'))
  const { id } = (await admin.call('POST', at, { name: 'Between', notes: '', birthdate: '1990-12-31' })).body
  await until('the clock has moved on', () => Date.now() > Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
  await finalize(upload_token)
  assert.deepEqual(
    (await personas()).map(({ name }) => name),
    ['Between', 'Ann', 'Bob'],
  )
  for (const { id } of await personas())
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('a fifth upload at the same time is told to come back', async () => {
  await aSpace()
  const { uploads } = service.process.services
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const four = Array.from({ length: 4 }, () => uploads.during('acme', () => held))
  const { status, body, headers } = await upload(csv('Ann,a,1990-12-31,'))
  release()
  await Promise.all(four)
  assert.deepEqual([status, body.error.code, headers['retry-after']], [429, 'rate_limited', '5'])
  assert.equal((await upload(csv('Ann,a,1990-12-31,'))).status, 200)
})
