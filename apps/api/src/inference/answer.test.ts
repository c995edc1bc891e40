// The pipeline from guard to answer, with a scripted server behind each model.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { callsOn, connectTo, problemOf, request } from '../../test/support/model-calls.ts'
import { answers, type Play, resets, says } from '../../test/support/scripted-upstream.ts'
import { answer, type Step, type Turn } from './answer.ts'
import type { Expert } from './expert.ts'
import { recorded } from './outcome.ts'

/** One server, several models: each request is played by the model it names. */
const cast =
  (models: Record<string, Play>): Play =>
  (response, seen) =>
    models[seen.body.model]!(response, seen)

const passing = {
  'llama-guard': says('safe'),
  router: says('{"expert":"law"}'),
  m: says({ pieces: ['It ', 'depends.'] }),
}
const law: Expert = {
  id: 'e1',
  name: 'law',
  description: 'knows the law',
  context: 'You are a careful lawyer.',
  file_context: [{ name: 'code.txt', content: 'Article 1' }],
  tools: [{ type: 'function', function: { name: 'search' } }],
}
const finance: Expert = { id: 'e2', name: 'finance', description: 'knows money' }
const full: Turn = {
  request: request(),
  deltas: true,
  guard: { model: 'llama-guard' },
  router: { model: 'router', experts: [law, finance] },
}

async function played(t: TestContext, models: Record<string, Play>) {
  const { engine, upstream } = await connectTo(t, {}, cast(models))
  const calls = callsOn(engine)
  return {
    asked: () => upstream.requests.map(({ body }) => body.model),
    upstream,
    run: async (turn: Turn) => {
      const steps: Step[] = []
      await answer(calls, turn, (step) => void steps.push(step))
      return steps
    },
    whole: (turn: Turn) =>
      recorded(
        (tell) => answer(calls, turn, tell),
        async () => {},
      ),
  }
}

const kinds = (steps: readonly Step[]) => steps.map((step) => Object.keys(step)[0])

test('guard, router and answer run in this order and each is told as it happens', async (t) => {
  const { run, asked } = await played(t, passing)
  const steps = await run(full)
  assert.deepEqual(kinds(steps), ['guard', 'router', 'asking', 'delta', 'delta', 'answer'])
  assert.deepEqual(asked(), ['llama-guard', 'router', 'm'])
})

test('the plain answer comes of the same steps', async (t) => {
  const { whole, upstream } = await played(t, passing)
  const { guard, router, answer } = await whole({ ...full, deltas: false })
  assert.deepEqual([guard?.category, router?.expert, answer.content], ['safe', 'law', 'It depends.'])
  assert.equal(upstream.requests.at(-1)?.body.stream, false)
})

test('flagged content reaches neither router nor answer', async (t) => {
  const { run, asked } = await played(t, { ...passing, 'llama-guard': says('unsafe\nS1') })
  const steps = await run({ ...full, echo: true })
  assert.deepEqual(kinds(steps), ['guard', 'delta', 'answer'])
  const last = steps.at(-1)
  assert.ok(last && 'answer' in last)
  assert.deepEqual([last.answer.finish_reason, last.answer.usage.total_tokens], ['content_filter', 0])
  assert.ok(!JSON.stringify(steps).includes('Hello there'), 'the flagged text is not echoed')
  assert.deepEqual(asked(), ['llama-guard'])
})

test('a guard that cannot be asked stops the turn before router and answer', async (t) => {
  const { run, asked } = await played(t, { ...passing, 'llama-guard': answers(500, {}) })
  assert.equal((await problemOf(run(full))).code, 'guard_unavailable')
  assert.deepEqual(asked(), ['llama-guard'])
})

test('a space that fails open goes on, and the step says skipped', async (t) => {
  const { whole } = await played(t, { ...passing, 'llama-guard': answers(500, {}) })
  const { guard, answer } = await whole({ ...full, guard: { model: 'llama-guard', failOpen: true } })
  assert.deepEqual([guard?.status, guard?.category, answer.content], ['skipped', 'skipped', 'It depends.'])
})

test("the chosen expert's knowledge and tools go with the question, within one system message", async (t) => {
  const { run, upstream } = await played(t, passing)
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'May I?' },
  ]
  const tools = [{ type: 'function', function: { name: 'search', description: "the caller's own" } }]
  await run({ ...full, request: request({ messages, tools }) })
  const { body } = upstream.requests.at(-1)!
  const [system, user] = body.messages
  assert.equal(
    system?.content,
    'Be brief.\n\n<expert name="law">\nYou are a careful lawyer.\n<file>\nname: code.txt\ncontent: Article 1\n</file>\n</expert>',
  )
  assert.equal(user?.content, 'May I?')
  assert.deepEqual(body['tools'], tools)
})

test('no expert fits: the plain model answers unchanged', async (t) => {
  const { run, upstream } = await played(t, { ...passing, router: says('{"expert":"none"}') })
  await run(full)
  assert.deepEqual(upstream.requests.at(-1)?.body.messages, full.request.messages)
})

test('a router that breaks down does not cost the answer', async (t) => {
  const { whole } = await played(t, { ...passing, router: resets() })
  const { router, answer } = await whole(full)
  assert.deepEqual([router?.expert, answer.content], ['none', 'It depends.'])
})

test('echo puts the last message of the user before the answer, streamed and whole alike', async (t) => {
  const { run } = await played(t, passing)
  const steps = await run({ request: request(), deltas: true, echo: true })
  const streamed = steps
    .map((step) => ('echo' in step ? step.echo : 'delta' in step ? step.delta.content : ''))
    .join('')
  const last = steps.at(-1)
  assert.ok(last && 'answer' in last)
  assert.equal(streamed, 'Hello thereIt depends.')
  assert.equal(last.answer.content, streamed)
})
