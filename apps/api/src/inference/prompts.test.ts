// Insights, arguments and personas: what goes into the prompt, and what comes out of the answer.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insightAnswer } from '../../test/support/insight-answer.ts'
import { callsOn, connectTo } from '../../test/support/model-calls.ts'
import { says } from '../../test/support/scripted-upstream.ts'
import { argumentCall, toArgument } from './argument.ts'
import { insightCall, toInsight } from './insight.ts'
import { personaCall, toPersona } from './persona.ts'
import { askForJson } from './structured.ts'

test('an insight carries every field of the answer, the thoughts and the cost', async (t) => {
  const { engine, upstream } = await connectTo(
    t,
    {},
    says({ pieces: [JSON.stringify(insightAnswer)], reasoning: ['hm'] }),
  )
  const input = { model: 'm', client: 'Ada, 31', actions: ['offer a mortgage', 'wait'], max_tokens: 300 }
  const result = toInsight('i1', input, await askForJson(callsOn(engine), insightCall(input)))
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
  assert.deepEqual(result, {
    id: 'i1',
    ...insightAnswer,
    thinking: 'hm',
    finish_reason: 'stop',
    usage,
    elapsed_time_in_seconds: 0,
  })
  const { body } = upstream.requests[0]!
  assert.match(body.messages[1]?.content ?? '', /Ada, 31[\s\S]*- offer a mortgage\n- wait/)
  assert.deepEqual([body['max_tokens'], 'echo' in body], [300, false])
})

test('an insight with echo begins with the client, one that failed says why', async (t) => {
  const input = { model: 'm', client: 'Ada. ', actions: [], echo: true }
  const good = await connectTo(t, {}, says(JSON.stringify(insightAnswer)))
  const echoed = toInsight('i', input, await askForJson(callsOn(good.engine), insightCall(input)))
  assert.equal(echoed.insight, 'Ada. She saves for a house')
  const bad = await connectTo(t, {}, says('no'))
  const failed = toInsight('i', input, await askForJson(callsOn(bad.engine), insightCall(input)))
  assert.match(failed.error ?? '', /no usable answer/)
  assert.equal(failed.insight, undefined)
})

test('an argument is asked for with client, product, template and examples', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, says('{"argument_thinking":"young","argument":"Start early"}'))
  const input = {
    model: 'm',
    client: { age: 31 },
    insight_spec: { type: 'pension', template: 'Because you {…}', examples: ['Because you travel'] },
    product: { name: 'Pension', description: 'grows slowly' },
  }
  const result = toArgument(input, await askForJson(callsOn(engine), argumentCall(input)))
  assert.deepEqual(result, { argument: 'Start early', argument_thinking: 'young', duration: 0 })
  const prompt = upstream.requests[0]?.body.messages[1]?.content ?? ''
  for (const part of ['{"age":31}', 'grows slowly', 'Because you {…}', '- Because you travel'])
    assert.ok(prompt.includes(part))
})

test('a persona keeps what was not changed and takes what was', async (t) => {
  const said = {
    message: 'Older now',
    name: '',
    notes: 'Retired pilot',
    birthdate: '1950-01-01',
    data: [{ key: 'hobby', value: 'gliding' }],
  }
  const { engine, upstream } = await connectTo(t, {}, says(JSON.stringify(said)))
  const input = {
    model: 'm',
    prompt: 'Make him older',
    current_persona: { id: 'p1', name: 'Otto', notes: 'Pilot', data: { city: 'Ulm', hobby: 'chess' } },
    history: [{ role: 'assistant', content: 'Here is Otto' }, { step: 2 }],
  }
  const result = toPersona(input, await askForJson(callsOn(engine), personaCall(input)))
  const data = { city: 'Ulm', hobby: 'gliding' }
  assert.deepEqual(result, {
    message: 'Older now',
    persona: { id: 'p1', name: 'Otto', notes: 'Retired pilot', birthdate: '1950-01-01', data },
  })
  const contents = upstream.requests[0]?.body.messages.map(({ role, content }) => [role, content])
  assert.deepEqual(contents?.slice(1, 3), [
    ['assistant', 'Here is Otto'],
    ['user', '{"step":2}'],
  ])
})
