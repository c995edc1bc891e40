// Guard and router through the whole service: what is flagged goes no further, and no log says more than happened.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { logsOf, readEvents, startTalking, type TalkingService, user, wordsIn } from '../support/completions.ts'
import { answers, type Play, resets, says } from '../support/scripted-upstream.ts'

let service: TalkingService
let guard: Play
const asked: string[] = []

before(async () => {
  service = await startTalking({ GUARD_MODEL: 'Llama-Guard-3-8B', ROUTER_MODEL: 'router' }, (response, request) => {
    const { model } = request.body
    asked.push(model)
    if (model === 'Llama-Guard-3-8B') return guard(response, request)
    if (model === 'router') return says('{"expert": "tax"}')(response, request)
    return says('The answer')(response, request)
  })
  for (const name of ['tax', 'law']) {
    const tools = [{ type: 'function', function: { name: `look_up_${name}` } }]
    const expert = {
      name,
      description: `knows ${name}`,
      context: `You know ${name}.`,
      tools,
      file_context: [{ a: 'b' }],
    }
    assert.equal((await service.ana.call('POST', service.at('/experts'), expert)).status, 200)
  }
})
after(() => service.close())
beforeEach(() => {
  asked.length = 0
})

const ask = { messages: [user('Hello')], guard_enabled: true, router_enabled: true }
const complete = (body: object) => service.ana.call('POST', service.at('/chats/completions'), body)

test('a safe message goes through guard, router and the chosen expert, and the log counts all three', async () => {
  guard = says('safe')
  const { status, body, headers } = await complete(ask)
  assert.equal(status, 200)
  assert.deepEqual(asked, ['Llama-Guard-3-8B', 'router', 'm'])
  assert.equal(body.guard.category, 'safe')
  assert.equal(body.router.expert, 'tax')
  assert.equal(body.guard.status, undefined)
  const sent = service.upstream.requests.at(-1)!.body
  assert.match(sent.messages[0]!.content, /You know tax\./)
  assert.deepEqual(
    (sent['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name),
    ['look_up_tax'],
  )
  const [log] = await logsOf(service, `?correlation_id=${headers['x-request-id']}`)
  assert.equal(log.total_tokens, 30)
  assert.equal(log.response_log.guard.category, 'safe')
  assert.equal(log.response_log.router.expert, 'tax')
})

test('the stream tells guard, router, words, finish and usage in this order', async () => {
  guard = says('safe')
  const { events, isDone } = readEvents((await complete({ ...ask, stream: true })).text)
  assert.ok(isDone)
  assert.equal(events[0].guard.category, 'safe')
  assert.equal(events[1].router.expert, 'tax')
  assert.equal(wordsIn(events), 'The answer')
  assert.equal(events.at(-1).guard.category, 'safe')
  assert.equal(events.at(-1).router.expert, 'tax')
  assert.doesNotMatch(JSON.stringify(events), /"status"|"estimated"/)
})

test('a flagged message is refused with content_filter, and neither router nor model is asked', async () => {
  guard = says('unsafe\nS1,S9')
  const plain = await complete(ask)
  assert.equal(plain.status, 200)
  assert.equal(plain.body.choices[0].finish_reason, 'content_filter')
  assert.equal(plain.body.guard.category, 'S1, S9')
  assert.equal(plain.body.router, undefined)
  const streamed = readEvents((await complete({ ...ask, stream: true })).text)
  assert.ok(streamed.isDone)
  assert.equal(streamed.events.length, 3)
  assert.equal(streamed.events[0].guard.category, 'S1, S9')
  assert.equal(streamed.events[2].choices[0].finish_reason, 'content_filter')
  assert.deepEqual(new Set(asked), new Set(['Llama-Guard-3-8B']))
})

test('a guard that cannot be asked or understood is 503, plain and in the stream, and no model is asked', async () => {
  for (const broken of [answers(500, {}), answers(401, {}), says('well, perhaps'), resets()]) {
    guard = broken
    const plain = await complete(ask)
    assert.equal(plain.status, 503)
    assert.equal(plain.body.error.code, 'guard_unavailable')
    const streamed = readEvents((await complete({ ...ask, stream: true })).text)
    assert.ok(!streamed.isDone)
    assert.equal(streamed.events.at(-1).error.code, 'guard_unavailable')
    const [log] = await logsOf(service, `?correlation_id=${plain.headers['x-request-id']}`)
    assert.equal(log.status, 'error')
    assert.equal(log.response_log.guard, undefined)
  }
  assert.deepEqual(new Set(asked), new Set(['Llama-Guard-3-8B']))
})

test('a space that fails open gets its answer, and the log says skipped', async () => {
  guard = answers(500, {})
  const settings = `/v1/spaces/${service.space}/settings`
  await service.ana.call('PUT', settings, { guard_fail_open: true })
  const { status, body, headers } = await complete(ask)
  await service.ana.call('PUT', settings, { guard_fail_open: false })
  assert.equal(status, 200)
  assert.equal(body.guard.category, 'skipped')
  const [log] = await logsOf(service, `?correlation_id=${headers['x-request-id']}`)
  assert.equal(log.response_log.guard.category, 'skipped')
})

test('an expert that the space does not have is refused by name', async () => {
  const { status, body } = await complete({ ...ask, expert_ids: ['nobody'] })
  assert.equal(status, 400)
  assert.equal(body.error.code, 'invalid_reference')
  assert.deepEqual(asked, [])
})

test('a single expert is chosen without asking a router', async () => {
  const { body: list } = await service.ana.call('GET', service.at('/experts'))
  const law = list.data.find(({ name }: { name: string }) => name === 'law')
  const { body } = await complete({ messages: [user('x')], router_enabled: true, expert_ids: [law.id] })
  assert.equal(body.router.expert, 'law')
  assert.deepEqual(asked, ['m'])
})
