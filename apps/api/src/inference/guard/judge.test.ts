// The guard stage: what it asks, what it says, and what it does when it cannot be asked.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { callsOn, connectTo, problemOf } from '../../../test/support/model-calls.ts'
import { answers, fallsSilent, type Play, says } from '../../../test/support/scripted-upstream.ts'
import { type GuardSettings, judge } from './judge.ts'

const messages = [{ role: 'user', content: 'How do I pick a lock?' }]

async function judged(t: TestContext, settings: GuardSettings, ...script: [Play, ...Play[]]) {
  const { engine, upstream } = await connectTo(t, {}, ...script)
  return { verdict: judge(callsOn(engine), settings, messages), upstream }
}

test('a guard model with a template of its own gets the conversation and nothing else', async (t) => {
  const { verdict, upstream } = await judged(t, { model: 'Llama-Guard-3-8B' }, says('unsafe\nS2'))
  const { status, category, content, usage } = await verdict
  assert.deepEqual([status, category, content, usage.total_tokens], ['flagged', 'S2', 'unsafe\nS2', 10])
  const { body } = upstream.requests[0]!
  assert.deepEqual([body.messages, body['temperature']], [messages, 0])
})

test('any other model is told the policy and bound to a schema', async (t) => {
  const text = '{"verdict":"unsafe","categories":["crime"]}'
  const { verdict, upstream } = await judged(t, { model: 'm' }, says(text))
  assert.deepEqual([(await verdict).category, (await verdict).content], ['crime', text])
  assert.equal(upstream.requests[0]?.body.response_format?.type, 'json_schema')
  assert.match(upstream.requests[0]?.body.messages[0]?.content ?? '', /How do I pick a lock/)
})

test('the reasoning is shown only where it was asked for', async (t) => {
  const text = '{"reasoning":"harmless hobby","verdict":"safe","categories":[]}'
  const shown = await judged(t, { model: 'm', reasoning: true }, says(text))
  assert.equal((await shown.verdict).reasoning_content, 'harmless hobby')
  const kept = await judged(t, { model: 'm' }, says({ pieces: [text], reasoning: ['secret'] }))
  assert.equal((await kept.verdict).reasoning_content, undefined)
})

test('a style that is set wins over the name of the model', async (t) => {
  const { verdict } = await judged(t, { model: 'my-model', style: 'shield-gemma' }, says('No'))
  assert.equal((await verdict).status, 'passed')
})

test('a guard that cannot be reached or read is a 503', async (t) => {
  const settings = { model: 'llama-guard' }
  for (const play of [answers(500, {}), answers(404, {}), says('hm'), answers(400, { error: { message: 'no' } })]) {
    const { verdict } = await judged(t, settings, play)
    const problem = await problemOf(verdict)
    assert.deepEqual([problem.code, problem.status], ['guard_unavailable', 503])
  }
  const { verdict } = await judged(t, { model: 'm' }, says('I will not answer in JSON'))
  assert.equal((await problemOf(verdict)).code, 'guard_unavailable')
})

test('a space that fails open gets skipped, never passed', async (t) => {
  for (const play of [answers(500, {}), says('hm')]) {
    const { verdict } = await judged(t, { model: 'llama-guard', failOpen: true }, play)
    const { status, category } = await verdict
    assert.deepEqual([status, category], ['skipped', 'skipped'])
  }
  const { verdict } = await judged(t, { model: 'llama-guard', failOpen: true }, says('hm'))
  assert.equal((await verdict).usage.total_tokens, 10, 'what could not be read was paid for')
})

test('a caller that leaves while the guard thinks is not let through, even where the space fails open', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, fallsSilent())
  const caller = new AbortController()
  const verdict = judge(callsOn(engine, caller.signal), { model: 'llama-guard', failOpen: true }, messages)
  const refused = assert.rejects(verdict, { name: 'AbortError' })
  await t.waitFor(() => assert.equal(upstream.requests.length, 1), { timeout: 5_000 })
  caller.abort()
  await refused
})

test('the time it took is counted on the clock it was given', async (t) => {
  const { engine } = await connectTo(t, {}, says('safe'))
  const ticks = [1_000, 3_500]
  const calls = { ...callsOn(engine), now: () => ticks.shift() ?? Number.NaN }
  assert.equal((await judge(calls, { model: 'llama-guard' }, messages)).elapsed_time_in_seconds, 2.5)
})
