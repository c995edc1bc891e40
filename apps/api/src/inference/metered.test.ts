// What calls cost, counted where they pass.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, connectTo, problemOf, request } from '../../test/support/model-calls.ts'
import { answers, fallsSilent, says } from '../../test/support/scripted-upstream.ts'
import { metered } from './metered.ts'

const ten = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

test('answers add up, and a refusal costs nothing', async (t) => {
  const { engine } = await connectTo(t, {}, says('a'), answers(400, {}), says('b'))
  const meter = metered(engine)
  await collect(meter)
  await problemOf(collect(meter))
  assert.deepEqual(meter.used, ten)
  await collect(meter)
  assert.equal(meter.used.total_tokens, 20)
})

test('a call that its caller leaves costs what was asked, by estimate', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, says('a'), fallsSilent())
  const meter = metered(engine)
  await collect(meter)
  const caller = new AbortController()
  const left = collect(meter, {}, caller.signal)
  left.catch(() => {})
  while (upstream.requests.length < 2) await new Promise((resolve) => setImmediate(resolve))
  caller.abort()
  await assert.rejects(left)
  const promptTokens = Math.ceil(String(request().messages[0]!.content).length / 4)
  assert.deepEqual(meter.used, {
    ...ten,
    prompt_tokens: 7 + promptTokens,
    total_tokens: 10 + promptTokens,
    estimated: true,
  })
})
