// What every operation gets for free: errors, request ids, repeats, limits, tokens (contract 4.0, 5.3, 7, 8).
import assert from 'node:assert/strict'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { newId } from '../../src/base/ids.ts'
import { type Person, type Service, startService, toReply } from '../support/service.ts'

let service: Service
let admin: Person
let space: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  space = await service.firstSpace()
})
after(() => service.close())

const raw = async (payload: string | Buffer, headers: Record<string, string> = {}) =>
  toReply(
    await service.app.inject({
      method: 'POST',
      url: '/v1/seats',
      payload,
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json', ...headers },
    }),
  )

describe('bad input is a clear 4xx', () => {
  const cases: [
    string,
    () => Promise<{ status: number; body: { error: { code: string; message: string } } }>,
    number,
    string,
  ][] = [
    ['broken JSON', () => raw('{"name":'), 400, 'invalid_json'],
    ['an empty body', () => raw(''), 400, 'invalid_json'],
    ['no body at all', () => admin.call('POST', '/v1/seats'), 400, 'invalid_request'],
    ['an array for an object', () => raw('[]'), 400, 'invalid_request'],
    ['null for an object', () => raw('null'), 400, 'invalid_request'],
    [
      'another media type',
      () => raw('name=x', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      'unsupported_media_type',
    ],
    ['a body over the limit', () => raw(`{"name":"${'x'.repeat(1_100_000)}"}`), 413, 'body_too_large'],
    ['a NUL in a query', () => admin.call('GET', '/v1/seats?after=%00'), 400, 'invalid_request'],
    ['an unknown address', () => admin.call('GET', '/v1/nothing'), 404, 'not_found'],
    ['a bad percent sign', () => admin.call('GET', '/v1/seats/%E0%A4%A'), 400, 'invalid_request'],
    ['a very long id', () => admin.call('GET', `/v1/seats/${'a'.repeat(3000)}`), 404, 'not_found'],
  ]
  for (const [what, call, status, code] of cases) {
    test(`${what} is ${status} ${code}`, async () => {
      const reply = await call()
      assert.deepEqual([reply.status, reply.body.error.code], [status, code], JSON.stringify(reply.body))
    })
  }

  test('several wrong fields are all named', async () => {
    const { body } = await raw('{"name":5,"permissions":"x","color":1}')
    const params = body.error.details.map(({ param }: { param: string }) => param).sort()
    assert.deepEqual(params, ['color', 'name', 'permissions', 'spaces'])
  })

  test('headers beyond 64 KiB are refused in our own words, and a long token below that is read', async () => {
    const live = await startService()
    await live.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = live.app.server.address() as AddressInfo
    const get = (authorization: string) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        request({ port, path: '/v1/seats', headers: { authorization } }, (response) => {
          let text = ''
          response.on('data', (part) => (text += part)).on('end', () => resolve({ status: response.statusCode!, text }))
        })
          .on('error', reject)
          .end()
      })
    assert.equal((await get(`Bearer ${'a'.repeat(50_000)}`)).status, 401)
    const refused = await get(`Bearer ${'a'.repeat(70_000)}`)
    assert.equal(refused.status, 431)
    assert.equal(JSON.parse(refused.text).error.code, 'headers_too_large')
    await live.close()
  })

  test('a stranger learns nothing from validation', async () => {
    const reply = toReply(await service.app.inject({ method: 'POST', url: '/v1/seats', payload: { nonsense: 1 } }))
    assert.equal(reply.status, 401)
  })
})

describe('request ids', () => {
  test('every answer carries one, errors repeat it, and a sensible one of the client’s is kept', async () => {
    const { headers, body } = await admin.call('GET', '/v1/nothing')
    assert.equal(headers['x-request-id'], body.error.request_id)
    const kept = await admin.call('GET', '/v1/seats', undefined, { 'x-request-id': 'trace-1.a' })
    assert.equal(kept.headers['x-request-id'], 'trace-1.a')
    const odd = await admin.call('GET', '/v1/seats', undefined, { 'x-request-id': 'a b<script>' })
    assert.notEqual(odd.headers['x-request-id'], 'a b<script>')
  })
})

describe('rate limits', () => {
  test('a flood of one person is 429 with Retry-After, and others go on', async () => {
    const limited = await startService({ env: { RATE_LIMIT_USER_PER_SECOND: '2' } })
    const ana = await limited.signIn('ana', ['admins'])
    const replies = await Promise.all(Array.from({ length: 30 }, () => ana.call('GET', '/v1/seats')))
    const refused = replies.filter(({ status }) => status === 429)
    assert.ok(refused.length >= 15)
    assert.equal(refused[0]!.body.error.type, 'rate_limit_error')
    assert.ok(Number(refused[0]!.headers['retry-after']) >= 1)
    const ben = await limited.signIn('ben', ['admins'])
    assert.equal((await ben.call('GET', '/v1/seats')).status, 200)
    await limited.close()
  })
})

describe('tokens', () => {
  test('a token has the claims of the contract and verifies by the published keys', async () => {
    const claims = decodeJwt(admin.token)
    assert.equal(claims.sub, 'ana')
    assert.deepEqual(
      claims['hash_perm'],
      (claims['hash_perm'] as string[]).filter((entry) => entry.endsWith(':admins')),
    )
    assert.equal(claims.exp! - claims.iat!, 3600)
    const { alg, typ, kid } = decodeProtectedHeader(admin.token)
    assert.deepEqual([alg, typ], ['ES256', 'at+jwt'])
    const published = JSON.parse((await service.app.inject('/.well-known/jwks.json')).payload)
    assert.ok(published.keys.some((key: { kid: string; d?: string }) => key.kid === kid && key.d === undefined))
  })

  test('after a rotation old tokens still work, and new ones are signed by the new key', async () => {
    await service.process.keys.rotate()
    const fresh = await service.signIn('ana', ['admins'])
    assert.notEqual(decodeProtectedHeader(fresh.token).kid, decodeProtectedHeader(admin.token).kid)
    assert.equal((await admin.call('GET', '/v1/seats')).status, 200)
    assert.equal((await fresh.call('GET', '/v1/seats')).status, 200)
  })

  test('a token that is expired, altered, unsigned, of another type or for another service is 401', async () => {
    const { current } = service.process.keys
    const claims = { tid: 'acme', sid: newId(), hash_perm: [`${space}:admins`] }
    const sign = (change: (jwt: SignJWT) => SignJWT, typ = 'at+jwt') =>
      change(
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'ES256', typ, kid: current.id })
          .setSubject('ana')
          .setIssuer(service.config.baseUrl)
          .setAudience(service.config.baseUrl)
          .setIssuedAt()
          .setExpirationTime('1h'),
      ).sign(current.privateKey)
    const [head, body, signature] = admin.token.split('.') as [string, string, string]
    const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt', kid: current.id })).toString('base64url')
    const bad: Record<string, string> = {
      expired: await sign((jwt) => jwt.setExpirationTime('-1s')),
      'of another type': await sign((jwt) => jwt, 'JWT'),
      'of another issuer': await sign((jwt) => jwt.setIssuer('https://elsewhere')),
      'for another audience': await sign((jwt) => jwt.setAudience('https://elsewhere')),
      altered: [
        head,
        Buffer.from(JSON.stringify({ ...decodeJwt(admin.token), sub: 'eve' })).toString('base64url'),
        signature,
      ].join('.'),
      unsigned: `${none}.${body}.`,
      garbage: 'a.b.c',
      'not even that': '::::',
    }
    const get = async (token: string) =>
      toReply(await service.app.inject({ url: '/v1/seats', headers: { authorization: `Bearer ${token}` } }))
    for (const [what, token] of Object.entries(bad)) {
      const { status, body: answer } = await get(token)
      assert.equal(status, 401, what)
      assert.equal(answer.error.code, what === 'expired' ? 'token_expired' : 'unauthenticated', what)
    }
    assert.equal((await get(await sign((jwt) => jwt))).status, 200)
  })
})

describe('browsers', () => {
  test('the tenant’s own frontend may call from a browser, and other pages may not', async () => {
    const open = await startService({ env: { TENANT_FRONTEND_URL: 'https://console.example.org/app' } })
    const preflight = (origin: string) =>
      open.app.inject({
        method: 'OPTIONS',
        url: '/v1/seats',
        headers: { origin, 'access-control-request-method': 'POST' },
      })
    const own = await preflight('https://console.example.org')
    assert.equal(own.statusCode, 204)
    assert.equal(own.headers['access-control-allow-origin'], 'https://console.example.org')
    assert.match(String(own.headers['access-control-allow-headers']), /authorization/)
    const other = await preflight('https://evil.example.org')
    assert.equal(other.headers['access-control-allow-origin'], undefined)
    const refused = await open.app.inject({ url: '/v1/seats', headers: { origin: 'https://console.example.org' } })
    assert.equal(refused.statusCode, 401)
    assert.equal(refused.headers['access-control-allow-origin'], 'https://console.example.org')
    await open.close()
  })
})

describe('what operators see', () => {
  test('metrics count requests by operation', async () => {
    await admin.call('GET', '/v1/seats')
    const { payload } = await service.app.inject('/metrics')
    assert.match(
      payload,
      /amphi_http_request_duration_seconds_count\{operation="seats.list",status="2xx",process="1"\} \d+/,
    )
  })

  test('the description has a page, which bears our name', async () => {
    const { statusCode, payload } = await service.app.inject('/docs/')
    assert.equal(statusCode, 200)
    assert.match(payload, /<title>Amphi API<\/title>/)
  })

  test('the service is live and ready', async () => {
    assert.equal((await service.app.inject('/health/live')).statusCode, 200)
    assert.equal((await service.app.inject('/health/ready')).statusCode, 200)
  })
})
