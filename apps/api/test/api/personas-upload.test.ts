// Uploads of personas as a client sees them (contract 3.7, 4.2.12).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sweepUploads } from '../../src/resources/personas/uploads-store.ts'
import { type Reply, type Service, startService, until } from '../support/service.ts'
import { csv, UploadSpace } from '../support/uploads.ts'
import { rowsXml, workbook } from '../support/xlsx.ts'

let service: Service
let here: UploadSpace

before(async () => {
  service = await startService()
})
after(() => service.close())

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
      here = await UploadSpace.in(service)
      const answer = await here.staged(file)
      assert.deepEqual([answer.status, answer.total, answer.conflict_personas], ['staged', 2, []])
      assert.deepEqual(await here.personas(), [])
      const { status, body } = await here.finalize(answer.upload_token)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual([body.status, body.total_uploaded, body.conflicts_resolved], ['finalized', 2, 0])
      const made = (await here.personas()).map(({ id, created_at, ...rest }) => rest)
      assert.deepEqual(
        made,
        expected.map((persona) => ({ ...persona, created_by: 'ana' })),
      )
    })
  }

  test('several files come in one upload', async () => {
    here = await UploadSpace.in(service)
    const answer = await here.staged(csv('Ann,a,1990-12-31,'), {
      name: 'more.json',
      contents: '[{"name":"Bob","notes":"b","birthdate":"1990-01-01"}]',
    })
    assert.equal(answer.total, 2)
    await here.finalize(answer.upload_token)
    assert.deepEqual(await here.brief(), ['Ann: a', 'Bob: b'])
  })

  test('a data column holds an object that the other columns join', async () => {
    here = await UploadSpace.in(service)
    const answer = await here.staged({
      name: 'p.csv',
      contents: 'name,notes,birthdate,data,city\nAnn,,1990-12-31,"{""a"":[1]}",Oslo\nBob,,1990-12-31,,\n',
    })
    await here.finalize(answer.upload_token)
    assert.deepEqual(
      (await here.personas()).map(({ data }) => data),
      [{ a: [1], city: 'Oslo' }, undefined],
    )
  })

  test('a column may be named like something of the language, and stays a column', async () => {
    here = await UploadSpace.in(service)
    const answer = await here.staged({
      name: 'p.csv',
      contents: 'name,notes,birthdate,__proto__,constructor\nAnn,,1990-12-31,x,y\n',
    })
    await here.finalize(answer.upload_token)
    assert.equal(JSON.stringify((await here.personas())[0].data), '{"__proto__":"x","constructor":"y"}')
  })
})

describe('conflicts', () => {
  const known = async () => {
    here = await UploadSpace.in(service)
    const { upload_token } = await here.staged(csv('Ann,old,1990-12-31,Oslo', 'Bob,old,1990-01-01,'))
    await here.finalize(upload_token)
    return here.staged(
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
      const { body } = await here.finalize(upload_token, resolution)
      assert.deepEqual([body.total_uploaded, body.conflicts_resolved], [uploaded, 2])
      assert.deepEqual(await here.brief(), expected)
    })
  }

  test('overwriting replaces notes and data, keeps the identifier, and is signed', async () => {
    const { upload_token } = await known()
    const [before] = await here.personas()
    await here.finalize(upload_token, 'overwrite')
    const [persona] = await here.personas()
    assert.equal(persona.id, before.id)
    assert.deepEqual([persona.notes, persona.data, persona.updated_by], ['new', { city: 'Rome' }, 'ana'])
    assert.equal((await here.personas())[1].updated_at, undefined)
  })

  test('of several personas that could be meant, the newest is overwritten', async () => {
    here = await UploadSpace.in(service)
    for (const notes of ['older', 'newer'])
      await here.admin.call('POST', here.at, { name: 'Ann', notes, birthdate: '1990-12-31' })
    const { upload_token } = await here.staged(csv('Ann,new,1990-12-31,'))
    await here.finalize(upload_token, 'overwrite')
    assert.deepEqual(await here.brief(), ['Ann: older', 'Ann: new'])
  })

  test('are looked for again when finalizing', async () => {
    here = await UploadSpace.in(service)
    const { upload_token, conflict_personas } = await here.staged(csv('Ann,a,1990-12-31,'))
    assert.deepEqual(conflict_personas, [])
    await here.admin.call('POST', here.at, { name: 'Ann', notes: 'meanwhile', birthdate: '1990-12-31' })
    assert.equal((await here.finalize(upload_token)).body.conflicts_resolved, 1)
    assert.deepEqual(await here.brief(), ['Ann: meanwhile'])
  })

  test('beyond a hundred are counted and not shown', async () => {
    here = await UploadSpace.in(service)
    const rows = Array.from({ length: 250 }, () => 'Ann,a,1990-12-31,')
    const { conflict_personas, message } = await here.staged(csv(...rows))
    assert.equal(conflict_personas.length, 100)
    assert.match(message, /249 of them/)
  })

  test('personas of another space are no conflict', async () => {
    here = await UploadSpace.in(service)
    const { upload_token } = await here.staged(csv('Ann,a,1990-12-31,'))
    await here.finalize(upload_token)
    here = await UploadSpace.in(service)
    assert.deepEqual((await here.staged(csv('Ann,a,1990-12-31,'))).conflict_personas, [])
  })
})

describe('the token', () => {
  const refusal = async (reply: Promise<Reply>) => {
    const { status, body } = await reply
    return [status, body.error.code]
  }

  test('works once', async () => {
    here = await UploadSpace.in(service)
    const { upload_token } = await here.staged(csv('Ann,a,1990-12-31,'))
    assert.equal((await here.finalize(upload_token)).status, 200)
    assert.deepEqual(await refusal(here.finalize(upload_token, 'create')), [409, 'conflict'])
    assert.equal((await here.personas()).length, 1)
  })

  test('works once, also when it is used twice at the same moment', async () => {
    here = await UploadSpace.in(service)
    const rows = Array.from({ length: 3000 }, (_, n) => `P${n},x,1990-01-01,`)
    const { upload_token } = await here.staged(csv(...rows))
    const replies = await Promise.all([1, 2, 3].map(() => here.finalize(upload_token, 'create')))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 409, 409])
    assert.equal((await here.admin.call('GET', here.at)).body.count, 3000)
  })

  test('is refused to another person, in another space, and when it is made up', async () => {
    here = await UploadSpace.in(service)
    const { upload_token } = await here.staged(csv('Ann,a,1990-12-31,'))
    const bob = await service.bearing('bob', [`${here.id}:admins`])
    const expected = [400, 'upload_token_invalid']
    assert.deepEqual(await refusal(here.finalize(upload_token, undefined, bob)), expected)
    assert.deepEqual(await refusal(here.finalize('made up')), expected)
    here = await UploadSpace.in(service)
    assert.deepEqual(await refusal(here.finalize(upload_token)), expected)
    assert.deepEqual(await here.personas(), [])
  })

  test('is refused after a day, and what was staged is swept away', async () => {
    here = await UploadSpace.in(service)
    const { system } = service.process
    const { upload_token } = await here.staged(csv('Ann,a,1990-12-31,'))
    await system`update persona_uploads set expires_at = expires_at - interval '23 hours 59 minutes'`
    await sweepUploads(system)
    await system`update persona_uploads set expires_at = expires_at - interval '2 minutes'`
    assert.deepEqual(await refusal(here.finalize(upload_token)), [400, 'upload_token_invalid'])
    await sweepUploads(system)
    const [left] = await system`select count(*)::int as count from persona_upload_batches`
    assert.equal(left!['count'], 0)
  })

  test('is not kept as it is', async () => {
    here = await UploadSpace.in(service)
    const { upload_token } = await here.staged(csv('Ann,a,1990-12-31,'))
    const [found] = await service.process
      .system`select * from persona_uploads u where u::text like ${`%${upload_token}%`}`
    assert.equal(found, undefined)
  })

  test('of two uploads with the same rows, finalized at the same moment, one row each is made', async () => {
    here = await UploadSpace.in(service)
    const rows = Array.from({ length: 2000 }, (_, n) => `P${n},x,1990-01-01,`)
    const tokens = [await here.staged(csv(...rows)), await here.staged(csv(...rows))].map(
      ({ upload_token }) => upload_token,
    )
    const replies = await Promise.all(tokens.map((token) => here.finalize(token)))
    assert.deepEqual(replies.map(({ body }) => body.total_uploaded).sort(), [0, 2000])
    assert.equal((await here.admin.call('GET', here.at)).body.count, 2000)
  })
})

test('finalizing leaves one entry in the audit log, with the counts', async () => {
  here = await UploadSpace.in(service)
  const { upload_token } = await here.staged(csv('Ann,a,1990-12-31,', 'Bob,b,1990-12-31,'))
  await here.finalize(upload_token)
  const { body } = await here.admin.call('GET', '/v1/audit?limit=1')
  const [{ action, after, actor }] = body.data
  assert.deepEqual([action, actor], ['personas.finalize', 'ana'])
  assert.deepEqual(after, { conflict_resolution: 'skip', total_uploaded: 2, conflicts_resolved: 0 })
})

test('identifiers tell the order of the rows and the time of finalizing, not of uploading', async () => {
  here = await UploadSpace.in(service)
  const { upload_token } = await here.staged(csv('Ann,a,1990-12-31,', 'Bob,b,1990-12-31,'))
  const { id } = (await here.admin.call('POST', here.at, { name: 'Between', notes: '', birthdate: '1990-12-31' })).body
  await until('the clock has moved on', () => Date.now() > Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
  await here.finalize(upload_token)
  assert.deepEqual(
    (await here.personas()).map(({ name }) => name),
    ['Between', 'Ann', 'Bob'],
  )
  for (const { id } of await here.personas())
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

test('a fifth upload at the same time is told to come back', async () => {
  here = await UploadSpace.in(service)
  const { uploads } = service.process.services
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const four = Array.from({ length: 4 }, () => uploads.during('acme', () => held))
  const { status, body, headers } = await here.upload(csv('Ann,a,1990-12-31,'))
  release()
  await Promise.all(four)
  assert.deepEqual([status, body.error.code, headers['retry-after']], [429, 'rate_limited', '5'])
  assert.equal((await here.upload(csv('Ann,a,1990-12-31,'))).status, 200)
})
