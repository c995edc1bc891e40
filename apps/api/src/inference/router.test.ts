// Choosing an expert.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { callsOn, connectTo } from '../../test/support/model-calls.ts'
import { answers, type Play, says } from '../../test/support/scripted-upstream.ts'
import type { Expert } from './expert.ts'
import { choose } from './router.ts'

const expert = (name: string): Expert => ({ id: name, name, description: `knows ${name}` })
const messages = [{ role: 'user', content: 'What does a bond cost?' }]

async function routed(t: TestContext, names: string[], ...script: [Play, ...Play[]]) {
  const { engine, upstream } = await connectTo(t, {}, ...script)
  const routed = await choose(callsOn(engine), { model: 'm', experts: names.map(expert) }, messages)
  return { choice: routed?.choice, expert: routed?.expert, requests: upstream.requests }
}

test('nobody to choose from is no stage, one is chosen without a call', async (t) => {
  const none = await routed(t, [], says('{}'))
  assert.equal(none.choice, undefined)
  const one = await routed(t, ['finance'], says('{}'))
  assert.equal(one.choice?.expert, 'finance')
  assert.equal(none.requests.length + one.requests.length, 0)
})

test('the model chooses among the names and none', async (t) => {
  const { choice, requests } = await routed(t, ['finance', 'law'], says('{"expert":"finance"}'))
  assert.deepEqual(
    [choice?.expert, choice?.content, choice?.usage.total_tokens],
    ['finance', '{"expert":"finance"}', 10],
  )
  const format = JSON.stringify(requests[0]?.body.response_format)
  assert.match(format, /"enum":\["finance","law","none"\]/)
  assert.match(requests[0]?.body.messages[0]?.content ?? '', /knows law/)
})

test('an unknown name is asked about once more, then nobody is chosen', async (t) => {
  const second = await routed(t, ['finance', 'law'], says('{"expert":"cooking"}'), says('{"expert":"law"}'))
  assert.equal(second.choice?.expert, 'law')
  const never = await routed(t, ['finance', 'law'], says('{"expert":"cooking"}'))
  assert.equal(never.choice?.expert, 'none')
  assert.equal(never.requests.length, 2)
})

test('a router that fails leaves the plain model and says so', async (t) => {
  const { choice } = await routed(t, ['finance', 'law'], answers(500, {}))
  assert.deepEqual([choice?.expert, choice?.finish_reason], ['none', 'error'])
  assert.match(choice?.content ?? '', /answered 500/)
})

test('an expert who is called none is chosen when alone, and else the word means nobody', async (t) => {
  assert.equal((await routed(t, ['none'], says('{}'))).expert?.name, 'none')
  assert.equal((await routed(t, ['none', 'law'], says('{"expert":"none"}'))).expert, undefined)
  assert.equal((await routed(t, ['none', 'law'], answers(500, {}))).expert, undefined)
})

test('a router that fails after it was asked tells what that took', async (t) => {
  const { choice } = await routed(t, ['finance', 'law'], says('{"expert":"cooking"}'), answers(500, {}))
  assert.equal(choice?.usage.total_tokens, 10)
})
