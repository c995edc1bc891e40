// Every way a model server can misbehave once it has begun to answer: each ends in the right answer or a clear error.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { collect, connectTo, problemOf } from '../../../test/support/model-calls.ts'
import {
  answers,
  dribbles,
  endsAfter,
  fallsSilent,
  frame,
  piece,
  resets,
  says,
  streams,
  usageChunk,
} from '../../../test/support/scripted-upstream.ts'

test('a connection cut after the first byte is an error and is not retried', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, resets(piece({ content: 'Hel' })))
  const problem = await problemOf(collect(engine))
  assert.deepEqual([problem.code, problem.status], ['upstream_error', 502])
  assert.match(problem.message, /broke before the answer was complete/)
  assert.equal(upstream.requests.length, 1)
})

test('a connection cut in the middle of an answer in one piece is an error', async (t) => {
  const { engine } = await connectTo(t, {}, (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"choices":[{"mess', () => response.socket?.resetAndDestroy())
  })
  assert.equal((await problemOf(collect(engine, { deltas: false }))).code, 'upstream_error')
})

test('an error event after status 200 is an error with its message, even before the end mark', async (t) => {
  const failing = streams(piece({ content: 'Hel' }), { error: { message: 'the engine died', code: 500 } })
  const { engine } = await connectTo(t, {}, failing)
  assert.equal((await problemOf(collect(engine))).message, 'The model server failed: the engine died')
})

test('an error event that names a status is judged by it', async (t) => {
  const tooLong = { error: { message: 'the prompt is too long', type: 'BadRequestError', code: 400 } }
  const { engine } = await connectTo(t, {}, streams(tooLong))
  const problem = await problemOf(collect(engine))
  assert.deepEqual([problem.code, problem.message], ['invalid_request', 'the prompt is too long'])
})

test('the parameter that a server finds fault with is named, where it says which', async (t) => {
  const bodies: [object, string | undefined][] = [
    [{ error: { message: 'too high', param: 'temperature' } }, 'temperature'],
    [{ object: 'error', message: 'too high', param: 'temperature', code: 400 }, 'temperature'],
    [{ error: { message: 'no', param: null } }, undefined],
    [{ error: { message: 'no', param: 'x'.repeat(10_000) } }, undefined],
    [{ error: 'no' }, undefined],
  ]
  for (const [body, param] of bodies) {
    const { engine } = await connectTo(t, {}, answers(400, body))
    const problem = await problemOf(collect(engine))
    assert.deepEqual([problem.code, problem.param], ['invalid_request', param])
  }
})

test('a flat error body under status 200 is an error, streamed or not', async (t) => {
  const flat = { object: 'error', message: 'no memory left', type: 'InternalError', code: 500 }
  for (const [play, deltas] of [[streams(flat), true] as const, [answers(200, flat), false] as const]) {
    const { engine } = await connectTo(t, {}, play)
    assert.equal((await problemOf(collect(engine, { deltas }))).message, 'The model server failed: no memory left')
  }
})

test('a stream that ends without a finish reason is an error, with or without the end mark', async (t) => {
  for (const play of [streams(piece({ content: 'Hel' })), endsAfter(piece({ content: 'Hel' }))]) {
    const { engine } = await connectTo(t, {}, play)
    assert.match((await problemOf(collect(engine))).message, /ended its answer before it was complete/)
  }
})

test('a server that gives up by finish reason is an error', async (t) => {
  const { engine } = await connectTo(t, {}, streams(piece({ content: 'Hel' }), piece({}, 'abort')))
  assert.equal((await problemOf(collect(engine))).code, 'upstream_error')
})

test('silence before the first token is a 504, comments notwithstanding', async (t) => {
  for (const play of [fallsSilent(), fallsSilent(piece({ role: 'assistant', content: '' }))]) {
    const { engine, upstream } = await connectTo(t, { timings: { firstTokenMs: 60 } }, play)
    const problem = await problemOf(collect(engine))
    assert.deepEqual([problem.code, problem.status], ['upstream_timeout', 504])
    assert.equal(await upstream.requests[0]?.wasAbandoned, true)
  }
})

test('silence in the middle of an answer is a 504', async (t) => {
  const { engine, upstream } = await connectTo(t, { timings: { idleMs: 60 } }, fallsSilent(piece({ content: 'Hel' })))
  assert.equal((await problemOf(collect(engine))).code, 'upstream_timeout')
  assert.equal(await upstream.requests[0]?.wasAbandoned, true)
})

test('an answer that never stops is cut off at the limit of the whole call', async (t) => {
  const { engine } = await connectTo(t, { timings: { totalMs: 80 } }, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const ticking = setInterval(() => response.write(frame(piece({ content: 'la ' }))), 5)
    response.once('close', () => clearInterval(ticking))
  })
  const problem = await problemOf(collect(engine))
  assert.match(problem.message, /no complete answer within 0.08 s/)
})

test('a server silent after the finish reason still gave a whole answer', async (t) => {
  const { engine } = await connectTo(
    t,
    { timings: { tailMs: 40 } },
    fallsSilent(piece({ content: 'all of it' }, 'stop')),
  )
  const { reply } = await collect(engine)
  assert.equal(reply.content, 'all of it')
  assert.equal(reply.usage.estimated, true)
})

test('characters cut in half at every chunk arrive whole', async (t) => {
  const text = 'Grüße, 世界 👩‍🚀!'
  const bytes = Buffer.from(frame(piece({ content: text }, 'stop')) + frame(usageChunk()) + frame('[DONE]'))
  for (const size of [1, 2, 3, 7]) {
    const { engine } = await connectTo(t, {}, dribbles(bytes, size))
    assert.equal((await collect(engine)).reply.content, text)
  }
})

test('an answer of 10 MB arrives whole, streamed and in one piece', async (t) => {
  const big = 'x'.repeat(10 * 1024 * 1024)
  const { engine } = await connectTo(t, {}, says(big))
  assert.equal((await collect(engine)).reply.content.length, big.length)
  assert.equal((await collect(engine, { deltas: false })).reply.content.length, big.length)
})

test('an answer without end is refused before it fills the memory', async (t) => {
  const { engine } = await connectTo(t, {}, async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const block = Buffer.alloc(1024 * 1024, 'x')
    while (!response.destroyed) await new Promise((sent) => response.write(block, sent))
  })
  assert.match((await problemOf(collect(engine))).message, /too large/)
})

test('tool calls are joined by index in whatever order their pieces come', async (t) => {
  const calls = [
    { index: 1, id: 'b', type: 'function', function: { name: 'second', arguments: '' } },
    { index: 0, id: 'a', type: 'function', function: { name: 'first', arguments: '{"x"' } },
    { index: 1, function: { arguments: '{}' } },
    { index: 0, function: { arguments: ':1}' } },
  ]
  const { engine } = await connectTo(t, {}, says({ toolCalls: calls, finish: 'tool_calls' }))
  const { reply, deltas } = await collect(engine)
  assert.deepEqual(reply.tool_calls, [
    { id: 'a', type: 'function', function: { name: 'first', arguments: '{"x":1}' } },
    { id: 'b', type: 'function', function: { name: 'second', arguments: '{}' } },
  ])
  assert.equal(deltas.length, 4)
  assert.equal(reply.finish_reason, 'tool_calls')
})

test('missing usage is estimated and says so', async (t) => {
  const { engine } = await connectTo(t, {}, says({ pieces: ['a', 'b', 'c'], usage: null }))
  const estimate = { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6, estimated: true }
  assert.deepEqual((await collect(engine)).reply.usage, estimate)
  const whole = await collect(engine, { deltas: false })
  assert.deepEqual(whole.reply.usage, { ...estimate, completion_tokens: 1, total_tokens: 4 })
})

test('what is not JSON is an error that says so', async (t) => {
  for (const [play, deltas] of [[streams('{"choices":'), true] as const, [answers(200, '<html>'), false] as const]) {
    const { engine } = await connectTo(t, {}, play)
    assert.equal((await problemOf(collect(engine, { deltas }))).code, 'upstream_invalid')
  }
})

test('an answer of the other kind than was asked for is understood', async (t) => {
  const whole = answers(200, { choices: [{ message: { content: 'whole' }, finish_reason: 'stop' }] })
  const unstreamed = await connectTo(t, {}, whole)
  assert.deepEqual((await collect(unstreamed.engine)).deltas, [{ content: 'whole' }])
  const pieces = streams(piece({ content: 'in ' }), piece({ content: 'pieces' }, 'stop'))
  const streamed = await connectTo(t, {}, pieces)
  assert.equal((await collect(streamed.engine, { deltas: false })).reply.content, 'in pieces')
  const mislabelled = await connectTo(t, {}, answers(200, frame(piece({ content: 'events' }, 'stop'))))
  assert.equal((await collect(mislabelled.engine)).reply.content, 'events')
})

test('answers of odd shapes are read as far as they can be, and never taken for a broken line', async (t) => {
  const whole = (choice: unknown) => answers(200, { choices: [choice] })
  const said = async (choice: unknown) => {
    const { engine } = await connectTo(t, {}, whole(choice))
    return (await collect(engine, { deltas: false })).reply
  }
  const parts = { content: [{ type: 'text', text: 'in ' }, null, { type: 'text', text: 'parts' }] }
  assert.equal((await said({ message: parts, finish_reason: 'stop' })).content, 'in parts')
  const refusal = { content: null, refusal: 'I had rather not' }
  assert.equal((await said({ message: refusal, finish_reason: 'stop' })).content, 'I had rather not')
  for (const choice of [null, 'text', { message: { content: 'x' }, finish_reason: { why: 'stop' } }]) {
    assert.equal((await problemOf(said(choice))).code, 'upstream_invalid')
  }
})

test('tool calls without an id get one, also where a whole answer comes to a stream', async (t) => {
  const message = { content: null, tool_calls: [{ type: 'function', function: { name: 'f', arguments: '{}' } }] }
  const { engine } = await connectTo(t, {}, answers(200, { choices: [{ message, finish_reason: 'tool_calls' }] }))
  const { deltas, reply } = await collect(engine)
  assert.equal(deltas.at(-1)?.tool_calls?.[0]?.id, reply.tool_calls?.[0]?.id)
})

test('a call may have less time than usual', async (t) => {
  const begins = (response: ServerResponse) => void response.writeHead(200).write('{')
  const { engine } = await connectTo(t, {}, begins)
  const problem = await problemOf(collect(engine, { deltas: false, within_ms: 80 }))
  assert.deepEqual(
    [problem.code, problem.message],
    ['upstream_timeout', 'The model server gave no complete answer within 0.08 s'],
  )
})

test('numbers that no model could have used are not believed', async (t) => {
  for (const usage of [
    { prompt_tokens: 1e20, completion_tokens: 1 },
    { prompt_tokens: 2_147_483_647, completion_tokens: 1 },
  ]) {
    const { engine } = await connectTo(t, {}, says({ pieces: ['a'], usage }))
    assert.equal((await collect(engine)).reply.usage.estimated, true)
  }
})
