// What a store and the network can do wrong, played by a scripted peer: each ends in a clear sentence, and nothing hangs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { Problem } from '../../base/problem.ts'
import { Secret } from '../../base/secret.ts'
import { openEgress } from '../egress/egress.ts'
import type { Bucket } from './bucket.ts'
import { type ObjectStore, openObjectStore } from './object-store.ts'

type Play = (response: ServerResponse, request: IncomingMessage) => void

const BODY = Buffer.from('a,b\n1,2\n3,4\n')
const ETAG = '"one"'
const IDLE_MS = 150
const KEY_ID = 'AKIDEXAMPLE'
const bucket: Bucket = {
  name: 'data',
  prefix: 'in/',
  region: 'us-east-1',
  accessKeyId: new Secret(KEY_ID),
  secretAccessKey: new Secret('shh'),
}
const { signal } = new AbortController()

let folder: string
let server: Server
let store: ObjectStore
let requests: IncomingMessage[]
let script: Play[]
const egress = openEgress({ allow: [], production: true })

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'amphi-store-'))
  server = createServer((request, response) => {
    const play = script[Math.min(requests.push(request), script.length) - 1]!
    play(response, request)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  store = openObjectStore({ endpoint, egress, timings: { connectMs: 500, idleMs: IDLE_MS } })
})
afterEach(async () => assert.deepEqual(await readdir(folder), [], 'no partial file stays behind'))
after(async () => {
  store.close()
  server.closeAllConnections()
  server.close()
  await egress.close()
  await rm(folder, { recursive: true })
})

const plays = (...plays: Play[]) => {
  requests = []
  script = plays
}
const download = (expectEtag?: string) =>
  store.download(bucket, 'f.csv', join(folder, 'f.csv'), { signal, ...(expectEtag && { expectEtag }) })
const listed = async () => {
  for await (const page of store.list(bucket, '', 1, signal)) assert.fail(`a page of ${page.length}`)
}
const head = (from = 0) => ({ 'content-length': BODY.length - from, etag: ETAG })
const whole: Play = (response) => response.writeHead(200, head()).end(BODY)
const rest: Play = (response, request) => {
  const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1])
  response.writeHead(206, head(from)).end(BODY.subarray(from))
}
const startsThen =
  (then: (response: ServerResponse) => void): Play =>
  (response) =>
    void response.writeHead(200, head()).write(BODY.subarray(0, 5), () => then(response))
const silence: Play = () => {}
const fails =
  (status: number, code: string): Play =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/xml' })
      .end(`<Error><Code>${code}</Code><Message>${code}</Message><AWSAccessKeyId>${KEY_ID}</AWSAccessKeyId></Error>`)

describe('a download', () => {
  test('that breaks off is taken up where it stopped, for the same version of the file', async () => {
    plays(
      startsThen((response) => response.socket?.resetAndDestroy()),
      rest,
    )
    assert.deepEqual(await download(), { key: 'f.csv', size: BODY.length, etag: ETAG })
    assert.deepEqual([requests[1]!.headers.range, requests[1]!.headers['if-match']], ['bytes=5-', ETAG])
    assert.deepEqual(await readFile(join(folder, 'f.csv')), BODY)
    await rm(join(folder, 'f.csv'))
  })

  test('from a store that falls silent ends, and says so', async () => {
    plays(
      startsThen(() => {}),
      silence,
    )
    await assert.rejects(download(), {
      code: 'upstream_timeout',
      message: 'The store of the bucket data did not answer in time',
    })
  })

  test('that ends early each time ends in an error', async () => {
    plays(
      (response) => response.writeHead(200, head()).write(BODY.subarray(0, 5), () => response.destroy()),
      (response) => response.destroy(),
    )
    await assert.rejects(download(), { code: 'upstream_unreachable' })
  })

  test('of a file that was replaced meanwhile is refused', async () => {
    plays(
      startsThen((response) => response.socket?.resetAndDestroy()),
      fails(412, 'PreconditionFailed'),
    )
    await assert.rejects(download(), { message: 'The file f.csv changed while it was being read' })
  })

  test('from a store that sends more than it announced is refused', async () => {
    plays(
      startsThen((response) => response.socket?.resetAndDestroy()),
      whole,
    )
    await assert.rejects(download(), { code: 'upstream_invalid' })
  })

  test('ends at once when its caller leaves', async () => {
    plays(startsThen(() => leaving.abort(new Error('gone'))))
    const leaving = new AbortController()
    const leave = store.download(bucket, 'f.csv', join(folder, 'f.csv'), { signal: leaving.signal })
    await assert.rejects(leave, { message: 'gone' })
  })
})

describe('an answer that is an error', () => {
  const TOLD: [number, string, string][] = [
    [403, 'InvalidAccessKeyId', 'The store does not accept these keys'],
    [403, 'SignatureDoesNotMatch', 'The store does not accept these keys'],
    [403, 'AccessDenied', 'These keys may not read the bucket data'],
    [404, 'NoSuchBucket', 'There is no bucket data'],
    [301, 'PermanentRedirect', 'The bucket data is not in region us-east-1'],
    [400, 'AuthorizationHeaderMalformed', 'The bucket data is not in region us-east-1'],
    [500, 'InternalError', 'The store answered with 500 InternalError'],
  ]
  for (const [status, code, message] of TOLD) {
    test(`${status} ${code}: ${message}, without a trace of the keys`, async () => {
      plays(fails(status, code))
      const error = await listed().catch((error: unknown) => error)
      assert.ok(error instanceof Problem)
      assert.equal(error.message, message)
      assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(KEY_ID))
    })
  }
})

test('a list from a store that falls silent ends, and says so', async () => {
  plays(silence)
  await assert.rejects(listed(), { code: 'upstream_timeout' })
  assert.equal(requests.length, 3)
})

test('a part of a file that arrives incomplete is an error', async () => {
  plays((response) => response.writeHead(206, { 'content-length': 2 }).end('ab'))
  await assert.rejects(store.readRange(bucket, 'f.csv', 0, 4, { signal }), { code: 'upstream_unreachable' })
})

test('a store that nobody listens at cannot be reached, and the bucket is named', async () => {
  const closed = openObjectStore({ endpoint: 'http://127.0.0.1:9', egress })
  const message = 'The store of the bucket data cannot be reached'
  await assert.rejects(closed.stat(bucket, 'f.csv', signal), { code: 'upstream_unreachable', message })
  closed.close()
})

test('AWS is called under the rules of egress', async () => {
  const resolve = async () => [{ address: '10.0.0.1', family: 4 }]
  const strict = openEgress({ allow: [], production: true, resolve })
  const aws = openObjectStore({ endpoint: undefined, egress: strict })
  await assert.rejects(aws.stat(bucket, 'f.csv', signal), { code: 'address_refused' })
  aws.close()
  await strict.close()
})
