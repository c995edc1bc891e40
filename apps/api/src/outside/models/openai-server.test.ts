// An OpenAI-compatible server that behaves, and one that fails before its first byte.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, connectTo, never, problemOf } from '../../../test/support/model-calls.ts'
import { answers, piece, resets, says, streams, usageChunk } from '../../../test/support/scripted-upstream.ts'
import { Secret } from '../../base/secret.ts'

test('deltas arrive in order and the reply holds all of it with the usage of the server', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, says({ reasoning: ['hm'], pieces: ['Hel', 'lo'] }))
  const { deltas, reply } = await collect(engine)
  assert.deepEqual(deltas, [{ reasoning_content: 'hm' }, { content: 'Hel' }, { content: 'lo' }])
  assert.deepEqual(reply, {
    content: 'Hello',
    reasoning_content: 'hm',
    finish_reason: 'stop',
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    model: 'scripted',
  })
  const { body } = upstream.requests[0]!
  assert.equal(body.stream, true)
  assert.deepEqual(body['stream_options'], { include_usage: true })
})

test('an answer nobody reads along is fetched in one piece', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, says({ reasoning: ['hm'], pieces: ['Hel', 'lo'] }))
  const { deltas, reply } = await collect(engine, { deltas: false })
  assert.deepEqual(deltas, [])
  assert.equal(reply.content, 'Hello')
  assert.equal(reply.reasoning_content, 'hm')
  assert.equal(upstream.requests[0]?.body.stream, false)
})

test('parameters pass through but replace nothing of ours, and the key is sent', async (t) => {
  const { engine, upstream } = await connectTo(t, { apiKey: new Secret('k1') }, says('ok'))
  await collect(engine, { temperature: 0, parameters: { seed: 5, stop: ['x'], model: 'other', stream_options: {} } })
  const { body, headers, path } = upstream.requests[0]!
  assert.equal(path, '/v1/chat/completions')
  assert.equal(headers.authorization, 'Bearer k1')
  assert.deepEqual([body['seed'], body['stop'], body.model, body['temperature']], [5, ['x'], 'm', 0])
  assert.deepEqual(body['stream_options'], { include_usage: true })
})

test('reasoning under its other name is understood', async (t) => {
  const { engine } = await connectTo(t, {}, streams(piece({ reasoning: 'so' }), piece({ content: 'a' }, 'stop')))
  assert.equal((await collect(engine)).reply.reasoning_content, 'so')
})

test('a busy server is asked twice more and then answers', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, answers(503, {}), answers(502, 'bad gateway'), says('at last'))
  assert.equal((await collect(engine)).reply.content, 'at last')
  assert.equal(upstream.requests.length, 3)
})

test('a server that stays busy becomes a 503 with the wait it asked for, after two retries', async (t) => {
  const busy = answers(429, { error: { message: 'slow down' } }, { 'retry-after': '0' })
  const { engine, upstream } = await connectTo(t, {}, busy)
  const problem = await problemOf(collect(engine))
  assert.deepEqual(
    [problem.code, problem.status, problem.message],
    ['upstream_rate_limited', 503, 'The model server is busy: slow down'],
  )
  assert.equal(upstream.requests.length, 3)
})

test('a server that asks for more than the longest wait is not asked again', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, answers(429, {}, { 'retry-after': '31' }))
  const problem = await problemOf(collect(engine))
  assert.equal(problem.retryAfterSeconds, 31)
  assert.equal(upstream.requests.length, 1)
})

test('a connection cut before any byte is retried once, and only once', async (t) => {
  const lucky = await connectTo(t, {}, resets(), says('second time'))
  assert.equal((await collect(lucky.engine)).reply.content, 'second time')
  const unlucky = await connectTo(t, {}, resets())
  assert.equal((await problemOf(collect(unlucky.engine))).code, 'upstream_unreachable')
  assert.equal(unlucky.upstream.requests.length, 2)
})

test('a server that is not there is a 502 that says so', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, says('never'))
  await upstream.close()
  const problem = await problemOf(collect(engine))
  assert.deepEqual([problem.code, problem.status], ['upstream_unreachable', 502])
})

test('a refusal that concerns the request keeps its kind and the words of the server', async (t) => {
  const cases = [
    [400, { error: { message: 'temperature is too high' } }, 'invalid_request', 'temperature is too high'],
    [400, { object: 'error', message: 'flat', type: 'BadRequestError', code: 400 }, 'invalid_request', 'flat'],
    [422, { detail: [{ loc: ['body'], msg: 'field required' }] }, 'invalid_request', 'field required'],
    [413, 'too much', 'invalid_request', 'The model server refused the request'],
    [404, { error: { message: 'The model `m` does not exist.' } }, 'model_not_found', 'The model `m` does not exist.'],
    [404, { detail: 'Not Found' }, 'upstream_error', 'The model server has no such address; check its base URL'],
    [401, { error: 'bad key' }, 'upstream_error', "The model server does not accept this service's key"],
    [403, '', 'upstream_error', "The model server does not accept this service's key"],
    [500, { error: { message: 'boom' } }, 'upstream_error', 'The model server answered 500: boom'],
    [302, '', 'upstream_error', 'The model server answered 302'],
  ] as const
  for (const [status, body, code, message] of cases) {
    const { engine, upstream } = await connectTo(t, {}, answers(status, body))
    const problem = await problemOf(collect(engine))
    assert.deepEqual([problem.code, problem.message], [code, message])
    assert.equal(upstream.requests.length, 1, `${status} is not retried`)
  }
})

test('models are listed in the shape of OpenAI whatever the server adds', async (t) => {
  const { engine, upstream } = await connectTo(
    t,
    {},
    answers(200, { data: [{ id: 'a', created: 5, max_model_len: 9 }, { id: 3 }] }),
  )
  const models = await engine.models(never())
  assert.deepEqual(models, [{ id: 'a', object: 'model', created: 5, owned_by: 'unknown' }])
  assert.equal(upstream.requests[0]?.path, '/v1/models')
})

test('connections are kept for later calls', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, streams(piece({ content: 'a' }, 'stop'), usageChunk()))
  for (let call = 0; call < 8; call++) await collect(engine)
  // A call may start while the last bytes of the one before are still read away: two, never eight.
  assert.ok(new Set(upstream.requests.map(({ fromPort }) => fromPort)).size <= 2)
})
