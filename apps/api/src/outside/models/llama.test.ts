// The embedded engine on a real, tiny model: it streams, counts, stops, leaves and obeys a schema.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  collect,
  never,
  noEmbeddedModel,
  problemOf,
  request,
  testModelFile,
} from '../../../test/support/model-calls.ts'
import type { Message } from './engine.ts'
import { type LlamaEngine, openLlama } from './llama.ts'

const story: Message[] = [{ role: 'user', content: 'Tell me about a dog.' }]

test('a model file that is not there is said before anything is loaded', async () => {
  const problem = await problemOf(openLlama({ modelFile: '/nowhere/model.gguf' }))
  assert.equal(problem.code, 'no_inference_backend')
  assert.match(problem.message, /model\.gguf cannot be read/)
})

describe('the embedded engine', { skip: noEmbeddedModel }, () => {
  let engine: LlamaEngine
  before(async () => {
    engine = await openLlama({ modelFile: testModelFile, parallel: 2, waitingMax: 2 })
  })
  after(() => engine.close())

  test('it streams tokens, counts them and ends at the limit', async () => {
    const { deltas, reply } = await collect(engine, { messages: story, max_tokens: 24 })
    assert.ok(deltas.length > 10, `${deltas.length} deltas`)
    assert.equal(deltas.map(({ content }) => content).join(''), reply.content)
    assert.equal(reply.finish_reason, 'length')
    assert.equal(reply.usage.completion_tokens, 24)
    assert.ok(reply.usage.prompt_tokens > 5)
    assert.equal(reply.usage.estimated, undefined)
  })

  test('temperature 0 gives the same words again, whatever was asked before', async () => {
    const ask = () => collect(engine, { messages: story, max_tokens: 16, temperature: 0 })
    const first = await ask()
    await collect(engine, { messages: [{ role: 'user', content: 'Something else' }], max_tokens: 8 })
    assert.deepEqual((await ask()).reply, first.reply)
  })

  test('what it cannot do or understand is refused, and the field is named', async () => {
    const tool = { type: 'function', function: { name: 'f' } }
    for (const [param, change] of [
      ['tool_choice', { tools: [tool], parameters: { tool_choice: 'required' } }],
      ['tool_choice', { tools: [tool], parameters: { tool_choice: { type: 'function', function: { name: 'f' } } } }],
      ['tools', { tools: [{ type: 'function', function: { name: 'a b' } }] }],
      [
        'tools',
        { tools: [{ ...tool, function: { name: 'f', parameters: { type: 'object', properties: { a: null } } } }] },
      ],
      ['stop', { parameters: { stop: 5 } }],
      ['seed', { parameters: { seed: 'x' } }],
      ['logprobs', { parameters: { logprobs: true } }],
    ] as const) {
      const problem = await problemOf(collect(engine, { messages: story, max_tokens: 4, ...change } as never))
      assert.deepEqual([problem.code, problem.param], ['invalid_request', param])
    }
    const { reply } = await collect(engine, { messages: story, max_tokens: 4, parameters: { stop: null, seed: null } })
    assert.equal(reply.finish_reason, 'length')
  })

  test('a stop word ends the answer before it', async () => {
    const free = await collect(engine, { messages: story, max_tokens: 60, temperature: 0 })
    const word = free.reply.content.trim().split(/\s+/)[3]!
    const { reply } = await collect(engine, {
      messages: story,
      max_tokens: 60,
      temperature: 0,
      parameters: { stop: word },
    })
    assert.equal(reply.finish_reason, 'stop')
    assert.ok(!reply.content.includes(word))
    assert.ok(free.reply.content.startsWith(reply.content.trimEnd()))
  })

  test('a schema is obeyed to the letter', async () => {
    const schema = {
      type: 'object',
      properties: { expert: { enum: ['sales', 'none'] }, sure: { anyOf: [{ type: 'boolean' }, { type: 'null' }] } },
    }
    const { reply } = await collect(engine, {
      messages: story,
      max_tokens: 80,
      response_format: { type: 'json_schema', json_schema: { name: 'choice', schema } },
    })
    const value = JSON.parse(reply.content)
    assert.ok(['sales', 'none'].includes(value.expert))
    assert.ok([true, false, null].includes(value.sure))
    assert.equal(reply.finish_reason, 'stop')
  })

  test('a schema that the grammar would get wrong is refused', async () => {
    const schema = { type: 'object', properties: { a: { allOf: [] } } }
    const problem = await problemOf(
      collect(engine, { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } }),
    )
    assert.deepEqual([problem.code, problem.param], ['invalid_request', 'response_format'])
  })

  test('messages that do not fit are refused instead of being shortened', async () => {
    for (const words of [3_000, 100_000]) {
      const problem = await problemOf(
        collect(engine, { messages: [{ role: 'user', content: 'a dog '.repeat(words) }] }),
      )
      assert.match(problem.message, /do not fit into the 2048 tokens/)
    }
  })

  test('a caller that leaves frees its slot within a second', async () => {
    const caller = new AbortController()
    const writing = [1, 2].map(() => {
      const spoken = Promise.withResolvers<void>()
      const left = assert.rejects(
        engine.ask(request({ messages: story }), caller.signal, () => spoken.resolve()),
        { name: 'AbortError' },
      )
      return { spoken: spoken.promise, left }
    })
    await Promise.all(writing.map(({ spoken }) => spoken))
    const waiting = collect(engine, { messages: story, max_tokens: 4 })
    const leftAt = performance.now()
    caller.abort()
    await Promise.all(writing.map(({ left }) => left))
    await waiting
    assert.ok(performance.now() - leftAt < 1_000)
  })

  test('more requests than slots wait their turn, and more than may wait are told so', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 6 }, () => collect(engine, { messages: story, max_tokens: 12 })),
    )
    const failed = outcomes.filter((outcome) => outcome.status === 'rejected')
    assert.equal(outcomes.length - failed.length, 4)
    for (const { reason } of failed) assert.equal(reason.code, 'upstream_rate_limited')
    assert.equal((await collect(engine, { messages: story, max_tokens: 2 })).reply.usage.completion_tokens, 2)
  })

  test('the process stays responsive while the model writes', async () => {
    let longestMs = 0
    let last = performance.now()
    const ticking = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last)
      last = performance.now()
    }, 1)
    await collect(engine, { messages: story, max_tokens: 300 })
    clearInterval(ticking)
    assert.ok(longestMs < 250, `blocked for ${longestMs} ms`)
  })

  test('a conversation with tools is understood, and a call comes back as one', async () => {
    const tools = [
      {
        type: 'function',
        function: { name: 'bark', parameters: { type: 'object', properties: { times: { type: 'integer' } } } },
      },
    ]
    const call = { id: 'c1', type: 'function', function: { name: 'bark', arguments: '{"times":1}' } }
    const messages: Message[] = [
      ...story,
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'woof' },
    ]
    const { reply } = await collect(engine, { messages, tools, max_tokens: 60, temperature: 0 })
    for (const made of reply.tool_calls ?? []) assert.equal(typeof JSON.parse(made.function.arguments), 'object')
    assert.ok(reply.usage.completion_tokens > 0)
  })

  test('it lists itself as a model', async () => {
    const [card] = await engine.models(never())
    assert.equal(card?.owned_by, 'embedded')
  })
})
