// An unchanged OpenAI client, told nothing but another base URL and a token.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { listen, startTalking, type TalkingService, user } from '../support/completions.ts'
import { answers, piece, says, streams } from '../support/scripted-upstream.ts'

const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }]
const messages = [{ role: 'user' as const, content: 'Hi' }]

let service: TalkingService
let client: OpenAI
before(async () => {
  service = await startTalking({}, (response, request) => {
    const { tools: asked, response_format: format } = request.body
    if (request.path.endsWith('/models')) return answers(200, { data: [{ id: 'm' }] })(response, request)
    if (asked) return says({ toolCalls: [{ index: 0, ...call }], finish: 'tool_calls' })(response, request)
    if (format) return says('{"city":"Oslo"}')(response, request)
    if (request.body['logprobs']) {
      const of = (token: string) => ({ content: [{ token, logprob: -0.1, bytes: null, top_logprobs: [] }] })
      const said = (token: string, finish: string | null) => {
        const { choices, ...rest } = piece({ content: token }, finish)
        return { ...rest, choices: [{ ...choices[0], logprobs: of(token) }] }
      }
      if (request.body.stream) return streams(said('Hel', null), said('lo', 'stop'))(response, request)
      const whole = { message: { content: 'Hello' }, finish_reason: 'stop', logprobs: of('Hello') }
      return answers(200, { choices: [whole] })(response, request)
    }
    if (request.body.messages[0]!.content === 'Break')
      return streams(piece({ content: 'x' }), { error: { message: 'broken' } })(response, request)
    return says({ pieces: ['Hel', 'lo'] })(response, request)
  })
  client = new OpenAI({ baseURL: (await listen(service)) + service.at(''), apiKey: service.ana.token, maxRetries: 0 })
})
after(() => service.close())

test('it gets a plain answer', async () => {
  const answer = await client.chat.completions.create({ model: 'm', messages })
  assert.equal(answer.choices[0]!.message.content, 'Hello')
  assert.equal(answer.usage!.total_tokens, 10)
})

test('it reads a stream to its end', async () => {
  const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
  let words = ''
  let tokens = 0
  for await (const { choices, usage } of stream) {
    words += choices[0]?.delta.content ?? ''
    tokens += usage?.total_tokens ?? 0
  }
  assert.equal(words, 'Hello')
  assert.equal(tokens, 10)
})

test('it gets tool calls, plain and streamed, and may send their results', async () => {
  const answer = await client.chat.completions.create({ model: 'm', messages, tools })
  assert.deepEqual(answer.choices[0]!.message.tool_calls, [call])
  const runner = client.chat.completions.stream({ model: 'm', messages, tools })
  const final = await runner.finalChatCompletion()
  assert.equal(final.choices[0]!.finish_reason, 'tool_calls')
  const [called] = final.choices[0]!.message.tool_calls!
  assert.equal(called?.type === 'function' && called.function.arguments, '{"city":"Oslo"}')
  const results = [...messages, final.choices[0]!.message, { role: 'tool' as const, tool_call_id: 'c1', content: '3°' }]
  const next = await client.chat.completions.create({ model: 'm', messages: results })
  assert.equal(next.choices[0]!.message.content, 'Hello')
})

test('it gets logprobs where it asks for them', async () => {
  const answer = await client.chat.completions.create({ model: 'm', messages, logprobs: true })
  assert.equal(answer.choices[0]!.logprobs?.content?.[0]?.token, 'Hello')
  const stream = client.chat.completions.stream({ model: 'm', messages, logprobs: true })
  const final = await stream.finalChatCompletion()
  assert.deepEqual(
    final.choices[0]!.logprobs?.content?.map(({ token }) => token),
    ['Hel', 'lo'],
  )
  assert.equal(final.choices[0]!.message.content, 'Hello')
})

test('it gets JSON by schema', async () => {
  const response_format = {
    type: 'json_schema' as const,
    json_schema: { name: 'place', schema: { type: 'object', properties: { city: { type: 'string' } } } },
  }
  const answer = await client.chat.completions.create({ model: 'm', messages, response_format })
  assert.deepEqual(JSON.parse(answer.choices[0]!.message.content!), { city: 'Oslo' })
})

test('it lists models and understands errors, in the stream too', async () => {
  const ids = []
  for await (const { id } of client.models.list()) ids.push(id)
  assert.deepEqual(ids, ['m'])
  await assert.rejects(
    client.chat.completions.create({ model: 'm', messages, n: 2 }),
    (error) => error instanceof OpenAI.BadRequestError,
  )
  const stream = await client.chat.completions.create({ model: 'm', messages: [user('Break') as never], stream: true })
  await assert.rejects(async () => {
    for await (const _ of stream);
  }, /broken/)
})
