// Chat completions: plain and streamed, through the whole service, on a model server that follows a script.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { logsOf, readEvents, startTalking, type TalkingService, user, wordsIn } from '../support/completions.ts'
import { says } from '../support/scripted-upstream.ts'

let service: TalkingService
before(async () => {
  service = await startTalking({}, says({ pieces: ['Hel', 'lo'] }))
})
after(() => service.close())

test('a plain completion answers in OpenAI’s shape, starts a chat and leaves one log', async () => {
  const { ana, at, space } = service
  const body = { messages: [user('Hi there')], model: 'm', type: 'greeting', tags: ['a'], metadata: { k: 1 } }
  const reply = await ana.call('POST', at('/chats/completions'), body)
  assert.equal(reply.status, 200, reply.text)
  const { id, object, model, created, created_at, choices, usage } = reply.body
  assert.equal(object, 'chat.completion')
  assert.equal(model, 'm')
  assert.equal(created, Math.floor(Date.parse(created_at) / 1000))
  assert.deepEqual(choices, [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }])
  assert.deepEqual(usage, { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 })

  const chat = (await ana.call('GET', at(`/chats/${id}`))).body
  assert.equal(chat.name, 'Hi there')
  assert.deepEqual(chat.messages, [user('Hi there'), { role: 'assistant', content: 'Hello' }])

  const [log, ...others] = await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)
  assert.equal(others.length, 0)
  assert.equal(log._id, log.id)
  assert.equal(log.space, space)
  assert.equal(log.user, 'ana')
  const { api, status, type, tags, metadata, input_tokens, total_tokens, position, stream } = log
  assert.deepEqual(
    { api, status, type, tags, metadata, input_tokens, total_tokens, position, stream },
    {
      api: 'chats.complete',
      status: 'success',
      type: 'greeting',
      tags: ['a'],
      metadata: { k: 1 },
      input_tokens: 7,
      total_tokens: 10,
      position: 1,
      stream: false,
    },
  )
  assert.equal(log.messages[0].inference_log_id, log.id)
  assert.equal(log.response_log.answer.content, 'Hello')
  assert.deepEqual((await ana.call('GET', at(`/logs/${log.id}`))).body, log)
})

test('a streamed completion sends a ping, the deltas, the finish, the usage and the end mark, in this order', async () => {
  const { ana, at } = service
  const reply = await ana.call('POST', at('/chat/completions'), { messages: [user('Hi')], stream: true })
  assert.equal(reply.status, 200)
  assert.match(String(reply.headers['content-type']), /^text\/event-stream/)
  assert.ok(reply.text.startsWith(': ping\n\n'))
  const { events, isDone } = readEvents(reply.text)
  assert.ok(isDone)
  assert.equal(wordsIn(events), 'Hello')
  assert.equal(events[0].object, 'chat.completion.chunk')
  assert.equal(events[0].choices[0].delta.role, 'assistant')
  assert.equal(events.at(-2).choices[0].finish_reason, 'stop')
  assert.deepEqual(events.at(-1).choices, [])
  assert.deepEqual(events.at(-1).usage, { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 })
  const [log] = await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)
  assert.equal(log.stream, true)
  assert.equal(log.status, 'success')
  assert.equal(log.total_tokens, 10)
  const chat = (await ana.call('GET', at(`/chats/${events[0].id}`))).body
  assert.equal(chat.messages[1].content, 'Hello')
})

test('parameters that the service does not know reach the model server, its own do not', async () => {
  const { ana, at, upstream } = service
  const body = { messages: [user('Hi')], seed: 7, stop: ['x'], tags: ['t'], name: 'n', user: 'u', expert_ids: [] }
  assert.equal((await ana.call('POST', at('/chats/completions'), body)).status, 200)
  const sent = upstream.requests.at(-1)!.body
  assert.deepEqual(Object.keys(sent).sort(), ['messages', 'model', 'seed', 'stop', 'stream'])
})

test('null is the same as leaving an optional parameter of OpenAI’s out', async () => {
  const { ana, at, upstream } = service
  const body = { messages: [user('Hi')], tools: null, response_format: null, temperature: null, stream: null, n: null }
  assert.equal((await ana.call('POST', at('/chats/completions'), body)).status, 200)
  assert.deepEqual(Object.keys(upstream.requests.at(-1)!.body).sort(), ['messages', 'model', 'stream'])
})

test('content of a wrong kind is told every kind that is taken', async () => {
  const { ana, at } = service
  const { body } = await ana.call('POST', at('/chats/completions'), { messages: [{ role: 'user', content: { a: 1 } }] })
  assert.equal(body.error.message, 'messages.0.content must be a string, null or an array')
  assert.equal(body.error.details, undefined)
})

test('a repeat with the same Idempotency-Key is answered without asking the model again; a stream is asked again', async () => {
  const { ana, at, upstream } = service
  const body = { messages: [user('Once')] }
  const first = await ana.call('POST', at('/chats/completions'), body, { 'idempotency-key': 'plain' })
  const asked = upstream.requests.length
  const again = await ana.call('POST', at('/chats/completions'), body, { 'idempotency-key': 'plain' })
  assert.deepEqual(again.body, first.body)
  assert.equal(upstream.requests.length, asked)
  for (let round = 1; round <= 2; round++) {
    const streamed = { ...body, stream: true }
    const reply = await ana.call('POST', at('/chats/completions'), streamed, { 'idempotency-key': 'stream' })
    assert.ok(readEvents(reply.text).isDone)
    assert.equal(upstream.requests.length, asked + round)
  }
})

test('what is not a completion request is refused before a model is asked', async () => {
  const { ana, at, upstream } = service
  const asked = upstream.requests.length
  for (const body of [{}, { messages: [] }, { messages: [{ content: 'x' }] }, { messages: [user('x')], n: 2 }]) {
    assert.equal((await ana.call('POST', at('/chats/completions'), body)).status, 400, JSON.stringify(body))
  }
  const unknownChat = { messages: [user('x')], id: '0195d3c0-8f5e-7c31-9a43-1f0a6d2b7e55' }
  assert.equal((await ana.call('POST', at('/chats/completions'), unknownChat)).status, 404)
  assert.equal(upstream.requests.length, asked)
})
