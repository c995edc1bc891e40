// Structured answers from servers of every kind of obedience.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { callsOn, connectTo, problemOf } from '../../test/support/model-calls.ts'
import { answers, type Play, says } from '../../test/support/scripted-upstream.ts'
import { askForJson } from './structured.ts'

const schema = Type.Object({ color: Type.Enum(['red', 'blue']), why: Type.String() }, { additionalProperties: false })
const call = { name: 'choice', schema, request: { model: 'm', messages: [{ role: 'user', content: 'Which?' }] } }
const GOOD = { color: 'red', why: 'warm' }

async function connected(t: TestContext, ...script: [Play, ...Play[]]) {
  const { engine, upstream } = await connectTo(t, {}, ...script)
  return {
    calls: callsOn(engine),
    formats: () => upstream.requests.map(({ body }) => body.response_format?.type ?? 'none'),
    upstream,
  }
}

/** Refuses the formats named, obeys the others. */
const refusing =
  (status: number, ...formats: string[]): Play =>
  (response, request) =>
    formats.includes(request.body.response_format?.type ?? '')
      ? answers(status, { error: { message: 'unknown response_format' } })(response, request)
      : says(JSON.stringify(GOOD))(response, request)

test('a server that takes a schema is given it and answers in one call', async (t) => {
  const { calls, formats, upstream } = await connected(t, says(JSON.stringify(GOOD)))
  const { value, error, usage } = await askForJson(calls, call)
  assert.deepEqual([value, error, usage.total_tokens], [GOOD, undefined, 10])
  assert.deepEqual(formats(), ['json_schema'])
  assert.deepEqual(upstream.requests[0]?.body.response_format?.json_schema?.schema, JSON.parse(JSON.stringify(schema)))
})

test('a server that refuses the schema is asked for an object, with the schema in words, and that is remembered', async (t) => {
  for (const status of [400, 501]) {
    const { calls, formats, upstream } = await connected(t, refusing(status, 'json_schema'))
    assert.deepEqual((await askForJson(calls, call)).value, GOOD)
    assert.deepEqual((await askForJson(calls, call)).value, GOOD)
    assert.deepEqual(formats(), ['json_schema', 'json_object', 'json_object'])
    assert.match(upstream.requests[1]?.body.messages[0]?.content ?? '', /JSON Schema:\n\{.*"color"/)
  }
})

test('a server that knows no format at all is asked in plain words', async (t) => {
  const { calls, formats } = await connected(t, refusing(400, 'json_schema', 'json_object'))
  assert.deepEqual((await askForJson(calls, call)).value, GOOD)
  assert.deepEqual((await askForJson(calls, call)).value, GOOD)
  assert.deepEqual(formats(), ['json_schema', 'json_object', 'none', 'none'])
})

test('a request that is refused in every form is the fault of the request, and nothing is remembered', async (t) => {
  const { calls, formats } = await connected(t, answers(400, { error: { message: 'the prompt is too long' } }))
  for (let asked = 0; asked < 2; asked++) {
    const problem = await problemOf(askForJson(calls, call))
    assert.deepEqual([problem.code, problem.message], ['invalid_request', 'the prompt is too long'])
  }
  assert.equal(formats().filter((format) => format === 'json_schema').length, 2)
})

test('JSON wrapped in thoughts and prose is used, and what the schema does not know is dropped', async (t) => {
  const text = `<think>{"color":"green"}?</think> Of course: \`\`\`json\n${JSON.stringify({ ...GOOD, extra: 1 })}\n\`\`\` Enjoy!`
  const { calls } = await connected(t, says(text))
  assert.deepEqual((await askForJson(calls, call)).value, GOOD)
})

test('an answer that does not fit is repaired once, with the errors told', async (t) => {
  const { calls, upstream } = await connected(t, says('{"color":"green","why":"x"}'), says(JSON.stringify(GOOD)))
  const { value, usage } = await askForJson(calls, call)
  assert.deepEqual(value, GOOD)
  assert.equal(usage.total_tokens, 20)
  const told = upstream.requests[1]?.body.messages.at(-1)?.content ?? ''
  assert.match(told, /\/color must be equal to one of the allowed values/)
})

test('a model that never obeys gives an error in the result after one repair, never an exception', async (t) => {
  const { calls, upstream } = await connected(t, says('I would rather sing.'))
  const { value, error } = await askForJson(calls, call)
  assert.equal(value, undefined)
  assert.match(error ?? '', /no usable answer: there is no JSON object/)
  assert.equal(upstream.requests.length, 2)
})

test('an answer cut off at its limit is asked for once more with twice the tokens', async (t) => {
  const cut = says({ pieces: ['{"color":"re'], finish: 'length' })
  const { calls, upstream } = await connected(t, cut, says(JSON.stringify(GOOD)))
  assert.deepEqual((await askForJson(calls, call)).value, GOOD)
  assert.deepEqual(
    upstream.requests.map(({ body }) => body['max_tokens']),
    [2048, 4096],
  )
  const hopeless = await connected(t, cut)
  assert.match((await askForJson(hopeless.calls, call)).error ?? '', /cut off/)
  assert.equal(hopeless.upstream.requests.length, 2)
})

test('a repair that cannot be asked for leaves the error of the first answer', async (t) => {
  const { calls } = await connected(t, says('no'), answers(500, {}))
  assert.match((await askForJson(calls, call)).error ?? '', /no JSON object in it; asking again failed/)
})

test('a server that cannot be reached is an exception, not an answer', async (t) => {
  const { calls } = await connected(t, answers(500, {}))
  assert.equal((await problemOf(askForJson(calls, call))).code, 'upstream_error')
})
