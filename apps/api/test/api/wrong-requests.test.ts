// What a client is told whose request is wrong: which fault it is, and what would be right (contract 2.0, 4.0, 7).
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { FORM_TYPE } from '../support/forms.ts'
import { type Person, type Service, startService, toReply } from '../support/service.ts'

let service: Service
let admin: Person
let at: string

before(async () => {
  service = await startService({ env: { TENANT_FRONTEND_URL: 'https://console.example.org/app' } })
  admin = await service.signIn('ana', ['admins'])
  at = `/v1/spaces/${await service.firstSpace()}`
})
after(() => service.close())

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

const stranger = async (method: Method, url: string, headers: Record<string, string> = {}, payload?: string) =>
  toReply(await service.app.inject({ method, url, headers, ...(payload !== undefined && { payload }) }))

const raw = async (url: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
  toReply(
    await service.app.inject({
      method: 'POST',
      url,
      payload,
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json', ...headers },
    }),
  )

describe('a method that an address does not have is 405 and names those it has', () => {
  const cases: [Method, string, string][] = [
    ['PUT', '/v1/seats', 'GET, HEAD, POST'],
    ['DELETE', '/v1/seats/', 'GET, HEAD, POST'],
    ['POST', `/v1/seats/${newId()}`, 'GET, HEAD, PUT, PATCH, DELETE'],
    ['POST', '/health/live', 'GET, HEAD'],
    ['PUT', '/docs', 'GET, HEAD'],
    ['DELETE', '/', 'GET, HEAD'],
    ['GET', '/v1/auth/logout', 'POST'],
    ['GET', '/v1/chat/completions', 'POST'],
    ['POST', '/docs/js/scalar.js?x=1', 'GET, HEAD'],
    // What is no preflight is a method like any other.
    ['OPTIONS', '/v1/seats', 'GET, HEAD, POST'],
  ]
  for (const [method, url, allow] of cases) {
    test(`${method} ${url.replace(/[0-9a-f-]{36}/, '{id}')} is told ${allow}`, async () => {
      const { status, headers, body } = await stranger(method, url)
      assert.deepEqual([status, body.error.code, headers['allow']], [405, 'method_not_allowed', allow])
      assert.equal(body.error.type, 'invalid_request_error')
      for (const name of allow.split(', ')) assert.match(body.error.message, new RegExp(`\\b${name}\\b`))
    })
  }

  test('it is said whatever the body holds', async () => {
    const broken = await stranger('PUT', '/v1/seats', { 'content-type': 'application/json' }, '{"broken')
    assert.equal(broken.status, 405)
  })

  test('an address that nothing has is 404 by any method', async () => {
    for (const method of ['GET', 'PUT', 'OPTIONS'] as const) {
      assert.equal((await stranger(method, '/v1/nothing')).status, 404)
    }
  })

  test('the preflight of a tenant’s own frontend is answered as ever', async () => {
    const origin = 'https://console.example.org'
    const asked = { origin, 'access-control-request-method': 'POST' }
    const { status, headers } = await stranger('OPTIONS', '/v1/seats', asked)
    assert.deepEqual([status, headers['access-control-allow-origin']], [204, origin])
    const other = await stranger('OPTIONS', '/v1/seats', { ...asked, origin: 'https://evil.example.org' })
    assert.deepEqual([other.status, other.headers['access-control-allow-origin']], [405, undefined])
  })
})

describe('a body must be JSON in UTF-8 and as it is', () => {
  const seat = (name: Buffer) => Buffer.concat([Buffer.from('{"name":"'), name, Buffer.from('"}')])

  test('bytes that are not UTF-8 are refused, and nothing is stored damaged', async () => {
    for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]]) {
      const { status, body } = await raw(`${at}/data-models`, seat(Buffer.from(bytes)))
      assert.deepEqual([status, body.error.code], [400, 'invalid_json'])
      assert.match(body.error.message, /UTF-8/)
    }
  })

  test('a replacement character that was really sent is text like any other', async () => {
    const { status, body } = await raw(`${at}/data-models`, '{"name":"\u{fffd} 你好 😀"}')
    assert.deepEqual([status, body.name], [200, '\u{fffd} 你好 😀'])
  })

  test('another character set is 415, and UTF-8 may be named', async () => {
    const sent = (type: string) => raw(`${at}/data-models`, '{"name":"x"}', { 'content-type': type })
    for (const set of ['latin1', '"iso-8859-1"', 'utf-16', 'utf-8859']) {
      const { status, body } = await sent(`application/json; charset=${set}`)
      assert.deepEqual([status, body.error.code], [415, 'unsupported_media_type'], set)
      assert.match(body.error.message, /UTF-8/)
    }
    for (const type of [
      'application/json;charset=UTF-8',
      'Application/JSON; charset="utf8"',
      'application/json; v=1',
    ]) {
      assert.equal((await sent(type)).status, 200, type)
    }
  })

  test('a compressed body is 415, in JSON and in a form', async () => {
    for (const [url, type] of [
      [`${at}/data-models`, 'application/json'],
      [`${at}/personas/upload`, FORM_TYPE],
    ] as const) {
      const { status, body } = await raw(url, '{"name":"x"}', { 'content-type': type, 'content-encoding': 'gzip' })
      assert.deepEqual([status, body.error.code], [415, 'unsupported_media_type'])
      assert.match(body.error.message, /gzip/)
    }
    const plain = await raw(`${at}/data-models`, '{"name":"y"}', { 'content-encoding': 'Identity' })
    assert.equal(plain.status, 200)
  })

  test('a body over the limit is told the limit', async () => {
    const { body } = await raw(`${at}/data-models`, `{"name":"${'x'.repeat(1_100_000)}"}`)
    assert.match(body.error.message, /larger than 1 MiB/)
  })
})

describe('an operation without a body', () => {
  const cancel = () => `${at}/trainings/${newId()}/cancel`

  test('takes none, an empty object and null', async () => {
    assert.equal((await admin.call('POST', cancel())).status, 404)
    for (const payload of ['{}', 'null']) assert.equal((await raw(cancel(), payload)).status, 404, payload)
  })

  test('refuses fields, which nobody would look at', async () => {
    const { status, body } = await raw('/v1/auth/logout', '{"x":1}')
    assert.deepEqual([status, body.error.code, body.error.param], [400, 'unknown_field', 'x'])
    assert.equal((await admin.call('GET', '/v1/users/me')).status, 200)
    const removed = await admin.call('DELETE', `${at}/experts/${newId()}`, { force: true })
    assert.deepEqual([removed.status, removed.body.error.param], [400, 'force'])
  })
})

test('a malformed id is answered in the same words as one that nothing has', async () => {
  for (const path of [
    '/v1/seats',
    '/v1/api-keys',
    ...['chats', 'action-groups', 'logs'].map((name) => `${at}/${name}`),
  ]) {
    const told = async (id: string) => {
      const { status, body } = await admin.call(path.endsWith('api-keys') ? 'DELETE' : 'GET', `${path}/${id}`)
      return [status, body.error.code, body.error.message]
    }
    assert.deepEqual(await told('not-an-id'), await told(newId()), path)
  }
})

describe('a message says what would be right', () => {
  const s3 = { bucket: 'b', region: 'eu', access_key_id: 'x', secret_access_key: 'y' }
  const cases: [string, 'GET' | 'POST' | 'PUT', () => string, object | undefined, string, RegExp][] = [
    [
      'a seat’s name',
      'POST',
      () => '/v1/seats',
      { name: ' x', spaces: ['s'], permissions: [] },
      'name',
      /without spaces/,
    ],
    [
      'a partial wildcard',
      'POST',
      () => '/v1/seats',
      { name: 'x', spaces: ['s'], permissions: ['a:*'] },
      'permissions.0',
      /<resource>:<operation>/,
    ],
    [
      'a bucket',
      'POST',
      () => `${at}/connectors`,
      { name: 'x', type: 'aws-s3', s3 },
      's3.bucket',
      /3 to 255 of the characters/,
    ],
    [
      'a day that is none',
      'POST',
      () => `${at}/personas`,
      { name: 'x', notes: '', birthdate: '2026-02-30' },
      'birthdate',
      /written like 1990-12-31$/,
    ],
    [
      'a time that is none',
      'GET',
      () => `${at}/logs?start_date=2026-02-30T00:00:00Z`,
      undefined,
      'start_date',
      /written like 2026-01-31T12:00:00Z$/,
    ],
    ['a number too small', 'GET', () => '/v1/seats?limit=0', undefined, 'limit', /must be at least 1$/],
    ['a number too large', 'GET', () => '/v1/seats?limit=1001', undefined, 'limit', /must be at most 1000$/],
    ['a text for a number', 'GET', () => '/v1/seats?limit=many', undefined, 'limit', /must be an integer$/],
    [
      'a single choice',
      'POST',
      () => `${at}/connectors`,
      { name: 'x', type: 'gcs', s3: { ...s3, bucket: 'bbb' } },
      'type',
      /must be aws-s3$/,
    ],
  ]
  for (const [what, method, url, body, param, words] of cases) {
    test(what, async () => {
      const reply = await admin.call(method, url(), body)
      assert.deepEqual([reply.status, reply.body.error.param], [400, param], JSON.stringify(reply.body))
      assert.match(reply.body.error.message, words)
      assert.doesNotMatch(reply.body.error.message, /pattern|format|>=|<=|anyOf/)
    })
  }
})

test('times that no calendar or clock has are refused, and early ones come back as they were given', async () => {
  const ranked = (start: string) => admin.call('GET', `${at}/leaderboards?start_date=${encodeURIComponent(start)}`)
  for (const odd of ['9999-12-31T23:59:59-01:00', '2026-01-01T00:00:00+16:00', '2026-01-01T00:00:00+23:59']) {
    assert.equal((await ranked(odd)).status, 400, odd)
    assert.equal((await admin.call('POST', '/v1/api-keys', { name: 'k', expires_at: odd })).status, 400, odd)
  }
  assert.equal((await ranked('2026-01-01T00:00:00+14:00')).status, 200)
  const [row] = await service.process.system`select '0049-05-05T01:02:03.004Z'::timestamptz as at`
  assert.equal(row!['at'], '0049-05-05T01:02:03.004Z')
})

test('an announced body that is empty is none, where none is taken', async () => {
  const empty = (method: 'POST' | 'DELETE', url: string) =>
    service.app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    })
  assert.equal((await empty('DELETE', `${at}/personas/${newId()}`)).statusCode, 404)
  const { error } = (await empty('POST', '/v1/seats')).json()
  assert.equal(error.code, 'invalid_json')
})

test('a field whose name has a line break is kept and answered', async () => {
  const data = { 'home\ncity': 'Oslo', ok: 1 }
  const { body } = await admin.call('POST', `${at}/personas`, {
    name: 'Ann',
    notes: '',
    birthdate: '1990-12-31',
    data,
  })
  assert.deepEqual(body.data, data)
  const expert = { name: 'e', description: '', file_context: [{ 'a\nb': 5 }] }
  assert.equal((await admin.call('POST', `${at}/experts`, expert)).status, 400)
})
