// What happens to a stream that would go on for longer than the service may take to stop.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from 'undici'
import { readEvents, user } from '../support/completions.ts'
import { cloneDatabase } from '../support/databases.ts'
import { call, spawnService } from '../support/processes.ts'
import { fallsSilent, piece, scriptedUpstream } from '../support/scripted-upstream.ts'

test('it ends in time with an error that invites a repeat, and its log is kept', async (t) => {
  const database = await cloneDatabase()
  t.after(() => database.drop())
  const upstream = await scriptedUpstream(fallsSilent(piece({ content: 'Once upon' })))
  t.after(() => upstream.close())
  const env = { DATABASE_URL: database.url, INFERENCE_URL: upstream.url, DEFAULT_MODEL: 'm' }
  const service = await spawnService(env)
  const answer = await request(`${service.url}/v1/spaces/${service.space}/chats/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [user('Tell me')], stream: true }),
  })
  const read = answer.body.text()
  while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  const began = performance.now()
  await service.kill('SIGTERM')
  assert.deepEqual([service.child.exitCode, service.child.signalCode], [0, null])
  assert.ok(performance.now() - began < 28_000)
  const { events, isDone } = readEvents(await read)
  assert.equal(isDone, false)
  assert.equal(events.at(-1).error.code, 'shutting_down')
  const next = await spawnService(env)
  t.after(() => next.kill('SIGTERM'))
  const { body } = await call(next, 'GET', `/v1/spaces/${service.space}/logs`)
  assert.deepEqual([body.count, body.data[0].status], [1, 'error'])
  assert.equal(body.data[0].response_log.answer.content, 'Once upon')
})
