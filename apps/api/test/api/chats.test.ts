// Chats: kept, continued, listed, renamed, seen through a window, changed and deleted.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTalking, type TalkingService, user } from '../support/completions.ts'
import { says } from '../support/scripted-upstream.ts'

let service: TalkingService
before(async () => {
  service = await startTalking({}, (response, request) =>
    says(`answer ${request.body.messages.length}`)(response, request),
  )
})
after(() => service.close())

const complete = async (body: object) => (await service.ana.call('POST', service.at('/chats/completions'), body)).body
const get = async (path: string) => (await service.ana.call('GET', service.at(path))).body
const wordsOf = (chat: { messages: { content: string }[] }) => chat.messages.map(({ content }) => content)

test('a chat that is continued sends the model everything that was said before', async () => {
  const { id } = await complete({ messages: [user('one')], name: 'Numbers' })
  await complete({ id, messages: [user('two')] })
  await complete({ id, messages: [user('three')] })
  assert.deepEqual(
    service.upstream.requests.at(-1)!.body.messages.map(({ content }) => content),
    ['one', 'answer 1', 'two', 'answer 3', 'three'],
  )
  const chat = await get(`/chats/${id}`)
  assert.equal(chat.name, 'Numbers')
  assert.deepEqual(wordsOf(chat), ['one', 'answer 1', 'two', 'answer 3', 'three', 'answer 5'])
  assert.deepEqual(chat.last_response, { answer: { content: 'answer 5' } })
})

test('a client that sends the whole conversation again does not double it', async () => {
  const { id } = await complete({ messages: [user('one')] })
  await complete({ id, messages: [user('one'), { role: 'assistant', content: 'answer 1' }, user('two')] })
  assert.deepEqual(wordsOf(await get(`/chats/${id}`)), ['one', 'answer 1', 'two', 'answer 3'])
})

test('a window shows the last messages, whatever turns they came in', async () => {
  const { id } = await complete({ messages: [user('a'), user('b')] })
  await complete({ id, messages: [user('c')] })
  await complete({ id, messages: [user('d')] })
  const all = wordsOf(await get(`/chats/${id}`))
  assert.equal(all.length, 7)
  for (let limit = 1; limit <= 8; limit++) {
    assert.deepEqual(wordsOf(await get(`/chats/${id}/window?limit=${limit}`)), all.slice(-limit))
  }
})

test('chats are listed newest first and found by a part of their name', async () => {
  const { id } = await complete({ messages: [user('x')], name: 'Quarterly 100% figures' })
  const { data, count } = await get('/chats?name=100%25%20FIG')
  assert.equal(count, 1)
  assert.equal(data[0].id, id)
  assert.equal((await get('/chats?limit=1')).data[0].id, id)
})

test('an update renames, sets what the next completion starts from, and replaces messages', async () => {
  const { id } = await complete({ messages: [user('x')] })
  const messages = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'c1', type: 'function', index: 0, function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', content: '42', tool_call_id: 'c1' },
  ]
  const changed = await service.ana.call('PUT', service.at(`/chats/${id}`), {
    name: 'New name',
    model: 'other',
    max_tokens: 5,
    temperature: 0.5,
    messages,
  })
  assert.equal(changed.status, 200, changed.text)
  assert.equal(changed.body.name, 'New name')
  assert.deepEqual(changed.body.messages[1].tool_call, [
    { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } },
  ])
  await complete({ id, messages: [user('next')] })
  const sent = service.upstream.requests.at(-1)!.body
  assert.equal(sent.model, 'other')
  assert.equal(sent['max_tokens'], 5)
  assert.equal(sent['temperature'], 0.5)
  assert.equal(sent.messages.length, 4)
  assert.equal((await get(`/chats/${id}`)).messages.length, 5)
})

test('a deleted chat is gone, and another space never had it', async () => {
  const { ana } = service
  const { id } = await complete({ messages: [user('x')] })
  const other = (await ana.call('POST', '/v1/spaces', { name: 'Other', description: '' })).body.id
  const elsewhere = await service.signIn('ana', ['admins'])
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const body = method === 'PUT' ? { name: 'stolen' } : undefined
    assert.equal((await elsewhere.call(method, `/v1/spaces/${other}/chats/${id}`, body)).status, 404)
  }
  const stolen = { id, messages: [user('y')] }
  assert.equal((await elsewhere.call('POST', `/v1/spaces/${other}/chats/completions`, stolen)).status, 404)
  assert.equal((await ana.call('DELETE', service.at(`/chats/${id}`))).status, 204)
  assert.equal((await ana.call('GET', service.at(`/chats/${id}`))).status, 404)
})

test('what a model says that cannot be stored is kept without it, and the call does not suffer', async () => {
  const { upstream, ana, at, ...rest } = await startTalking({}, says('a\u0000b\ud800c'))
  const reply = await ana.call('POST', at('/chats/completions'), { messages: [user('x')] })
  assert.equal(reply.status, 200)
  const chat = await ana.call('GET', at(`/chats/${reply.body.id}`))
  assert.equal(chat.body.messages[1].content, 'ab\ufffdc')
  await rest.close()
})
