// Calls to addresses that users supply, on real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, Agent as HttpAgent, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { request } from 'undici'
import { Problem } from '../../base/problem.ts'
import { type Egress, openEgress } from './egress.ts'

const answers: Record<string, RequestListener> = {
  '/hello': (_, response) => response.end('hello'),
  '/echo': (request, response) => request.pipe(response),
  '/moved': (_, response) => response.writeHead(302, { location: '/hello' }).end(),
  '/huge': (_, response) => response.end(Buffer.alloc((1 << 20) + 1)),
  '/nothing': (_, response) => response.writeHead(204).end(),
}
const server = createServer((request, response) => answers[request.url ?? '']!(request, response))
let port: number
const development = openEgress({ allow: [], production: false })
const production = openEgress({ allow: [], production: true })

before(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  port = (server.address() as AddressInfo).port
})
after(async () => {
  await Promise.all([development.close(), production.close()])
  server.close()
})

const isRefused = (error: unknown) => error instanceof Problem && error.code === 'address_refused'
const at = (host: string, path = '/hello') => `http://${host}:${port}${path}`

describe('in production', () => {
  const LOOPBACK = [
    '127.0.0.1',
    'localhost',
    '0x7f.1',
    '2130706433',
    '127.1',
    '0177.0.0.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '0',
  ]

  for (const host of LOOPBACK) {
    test(`${host} is refused by every way out`, async () => {
      await assert.rejects(production.fetch(at(host)), isRefused)
      await assert.rejects(request(at(host), { dispatcher: production.dispatcher }), isRefused)
      await assert.rejects(production.assertOpen(at(host)), isRefused)
    })
  }

  test('a name that leads to a closed address is refused, and the refusal does not tell where it leads', async () => {
    const egress = openEgress({
      allow: [],
      production: true,
      resolve: async () => [{ address: '10.9.8.7', family: 4 }],
    })
    await assert.rejects(egress.fetch('https://inside.example/x'), (error: Problem) => {
      assert.ok(isRefused(error))
      assert.match(error.message, /inside\.example/)
      assert.doesNotMatch(error.message, /10\.9/)
      return true
    })
    await egress.close()
  })

  test('a public address without TLS is refused', async () => {
    await assert.rejects(production.assertOpen('http://1.1.1.1/'), isRefused)
    await production.assertOpen('https://1.1.1.1/')
  })

  test('what the operator opened is called, with or without TLS', async () => {
    const egress = openEgress({ allow: ['127.0.0.0/8'], production: true })
    assert.equal(await (await egress.fetch(at('127.0.0.1'))).text(), 'hello')
    await egress.close()
  })
})

describe('the address that was judged is the one that is called', () => {
  /** Answers with an open address first and a closed one from then on, as an attacker's name server would. */
  const rebinding = () => {
    const script = ['127.0.0.1', '10.0.0.1']
    let asked = 0
    const resolve = async () => [{ address: script[Math.min(asked++, 1)]!, family: 4 }]
    return { egress: openEgress({ allow: [], production: false, resolve }), asked: () => asked }
  }

  test('a name is asked for once per connection', async () => {
    const { egress, asked } = rebinding()
    assert.equal(await (await egress.fetch(at('changing.example'))).text(), 'hello')
    assert.equal(asked(), 1)
    await egress.close()
  })

  test('of several addresses only the open ones are tried', async () => {
    const resolve = async () => [
      { address: '10.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]
    const egress = openEgress({ allow: [], production: false, resolve })
    assert.equal(await (await egress.fetch(at('both.example'))).text(), 'hello')
    await egress.close()
  })

  test('agents of node:http keep to it too', async () => {
    const call = (egress: Egress, host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const agent = new HttpAgent({ lookup: egress.lookup('http:') })
        get(at(host), { agent }, (response) => resolve(response.resume().statusCode)).on('error', reject)
      })
    assert.equal(await call(development, 'localhost'), 200)
    await assert.rejects(call(production, 'localhost'), isRefused)
  })
})

describe('a short call', () => {
  test('sends what it is given and brings status, headers and body', async () => {
    const answer = await development.fetch(at('127.0.0.1', '/echo'), { method: 'POST', body: 'ping' })
    assert.deepEqual([answer.status, await answer.text()], [200, 'ping'])
    assert.equal((await development.fetch(at('127.0.0.1', '/nothing'))).status, 204)
  })

  test('does not follow a redirect', async () => {
    const answer = await development.fetch(at('127.0.0.1', '/moved'))
    assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/hello'])
  })

  test('gives up on an answer of more than a mebibyte', async () => {
    await assert.rejects(development.fetch(at('127.0.0.1', '/huge')), { code: 'upstream_invalid' })
  })

  test('ends when its caller leaves', async () => {
    await assert.rejects(development.fetch(at('127.0.0.1'), { signal: AbortSignal.abort() }), { name: 'AbortError' })
  })
})
