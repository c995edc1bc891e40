// The database goes away while models answer: the answers still come, and what they leave behind follows.
import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { request } from 'undici'
import { startPostgres } from '../../src/storage/embedded-postgres.ts'
import { readEvents, user, wordsIn } from '../support/completions.ts'
import { call, type ServiceProcess, spawnService } from '../support/processes.ts'
import { frame, piece, type ScriptedUpstream, says, scriptedUpstream } from '../support/scripted-upstream.ts'
import { until } from '../support/service.ts'

let folder: string
let postgres: Awaited<ReturnType<typeof startPostgres>>
let upstream: ScriptedUpstream
let service: ServiceProcess
let finish = () => {}

const start = () =>
  spawnService({
    // The link leads to wherever the server listens now, so the address stays when the server is started anew.
    DATABASE_URL: `postgres://postgres@${encodeURIComponent(`${join(folder, 'database', 'run')}/,`)}:5432/postgres`,
    DATA_DIR: join(folder, 'service'),
    SECRETS_KEY: 'a key that only tests know, and long enough',
    INFERENCE_URL: upstream.url,
    DEFAULT_MODEL: 'm',
  })

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'amphi-away-'))
  postgres = await startPostgres({ dataDir: join(folder, 'database') })
  upstream = await scriptedUpstream((response, seen) => {
    if (!seen.body.stream) return says('Hello')(response, seen)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame(piece({ content: 'Slowly' })))
    finish = () => response.end(frame(piece({}, 'stop')) + frame('[DONE]'))
  })
  service = await start()
})
afterEach(async () => {
  await service.kill('SIGKILL')
  await upstream.close()
  await postgres.stop()
  await rm(folder, { recursive: true, force: true })
})

const at = (path: string) => `/v1/spaces/${service.space}${path}`

async function openStream() {
  const response = await request(service.url + at('/chats/completions'), {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [user('Hi')], stream: true, type: 'away' }),
  })
  await until('the model is asked', () => upstream.requests.length > 0)
  return response.body.text()
}

async function logIsThere(id: string): Promise<void> {
  await until(
    'log and chat are there',
    async () => {
      const [logs, chat] = await Promise.all([
        call(service, 'GET', at('/logs?type=away')),
        call(service, 'GET', at(`/chats/${id}`)),
      ])
      return logs.status === 200 && logs.body.count === 1 && chat.status === 200
    },
    20_000,
  )
}

test('a stream ends well while the database is away, and its log and chat are there once it is back', async () => {
  const read = openStream()
  await until('the model is asked', () => upstream.requests.length > 0)
  await postgres.stop()
  finish()
  const { events, isDone } = readEvents(await read)
  assert.ok(isDone)
  assert.equal(wordsIn(events), 'Slowly')
  postgres = await startPostgres({ dataDir: join(folder, 'database') })
  await logIsThere(events[0].id)
})

test('a service that must end while the database is away keeps what it owes for its next start', async () => {
  const read = openStream()
  await until('the model is asked', () => upstream.requests.length > 0)
  await postgres.stop()
  finish()
  const { events } = readEvents(await read)
  await service.kill('SIGTERM')
  const left = async () => (await readdir(join(folder, 'service'))).filter((name) => name.startsWith('left-'))
  assert.equal((await left()).length, 2)
  postgres = await startPostgres({ dataDir: join(folder, 'database') })
  service = await start()
  await logIsThere(events[0].id)
  assert.deepEqual(await left(), [])
})

test('what was answered plainly is there after the service is killed at once', async () => {
  const ids: string[] = []
  const writers = Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 25; i++) {
      const { status, body } = await call(service, 'POST', at('/chats/completions'), { messages: [user('Hi')] })
      assert.equal(status, 200)
      ids.push(body.id)
    }
  })
  await Promise.all(writers)
  await service.kill('SIGKILL')
  service = await start()
  for (const id of ids) assert.equal((await call(service, 'GET', at(`/chats/${id}`))).status, 200)
})
