// Streams that end before their time: the reader leaves, or loses the right to read on.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { logsOf, openStream, readEvents, startTalking, type TalkingService, user } from '../support/completions.ts'
import { fallsSilent, piece } from '../support/scripted-upstream.ts'
import { until } from '../support/service.ts'

let service: TalkingService
before(async () => {
  service = await startTalking({}, fallsSilent(piece({ content: 'Once upon' })))
})
after(() => service.close())

async function firstWord(stream: Awaited<ReturnType<typeof openStream>>): Promise<void> {
  for (let text = ''; !text.includes('Once upon'); ) {
    const [chunk] = await once(stream.body, 'data')
    text += String(chunk)
  }
}

test('a reader that leaves frees the model server within a second, and the log tells what was used', async () => {
  const stream = await openStream(service, { messages: [user('Tell me a story')], type: 'left' })
  await firstWord(stream)
  await stream.leave()
  const { wasAbandoned } = service.upstream.requests.at(-1)!
  assert.equal(await Promise.race([wasAbandoned, pause(1_000, 'too late', { ref: false })]), true)
  await until('the log is there', async () => (await logsOf(service, '?type=left')).length === 1)
  const [log] = await logsOf(service, '?type=left')
  assert.equal(log.status, 'error')
  assert.match(log.error_message, /left/)
  assert.ok(log.total_tokens > 0)
  assert.equal(log.response_log.answer.content, 'Once upon')
})

test('a seat that is taken away ends the stream with the reason, and frees the model server', async () => {
  const { ana, space } = service
  const permissions = ['chats:create']
  const { body: seat } = await ana.call('POST', '/v1/seats', { name: 'writers', spaces: [space], permissions })
  const bob = await service.signIn('bob', ['writers'])
  const stream = await openStream(service, { messages: [user('Go on')], type: 'revoked' }, bob.token)
  const read = stream.body.text()
  await until('the model is asked', () => service.upstream.requests.length === 2)
  assert.equal((await ana.call('PUT', `/v1/seats/${seat.id}`, { permissions: ['chats:list'] })).status, 200)
  const { events, isDone } = readEvents(await read)
  assert.equal(isDone, false)
  assert.equal(events.at(-1).error.code, 'forbidden')
  assert.equal(await service.upstream.requests[1]!.wasAbandoned, true)
  await until('the log is there', async () => (await logsOf(service, '?type=revoked')).length === 1)
  const [log] = await logsOf(service, '?type=revoked')
  assert.equal(log.status, 'error')
  assert.equal(log.user, 'bob')
  await stream.leave()
})

test('a change that leaves the reader’s rights alone leaves the stream alone', async () => {
  const { ana, space } = service
  const stream = await openStream(service, { messages: [user('Go on')], type: 'kept' })
  await firstWord(stream)
  await ana.call('POST', '/v1/seats', { name: 'others', spaces: [space], permissions: [] })
  assert.equal((await logsOf(service, '?type=kept')).length, 0)
  await stream.leave()
  await until('the stream is over', async () => (await logsOf(service, '?type=kept')).length === 1)
})
