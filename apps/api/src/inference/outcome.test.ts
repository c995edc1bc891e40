// What is reported of a turn: always something, and exactly once.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { callsOn, connectTo, request } from '../../test/support/model-calls.ts'
import { answers, fallsSilent, type Play, piece, resets, says } from '../../test/support/scripted-upstream.ts'
import { answer, type Step, type Turn } from './answer.ts'
import { type Outcome, recorded } from './outcome.ts'

interface Listening {
  readonly change?: Partial<Turn>
  readonly onward?: (step: Step, caller: AbortController) => void
  readonly hasLeft?: boolean
}

async function turn(t: TestContext, play: Play, { onward, hasLeft = false, change }: Listening = {}) {
  const { engine, upstream } = await connectTo(t, {}, play)
  const caller = new AbortController()
  if (hasLeft) caller.abort()
  const reports: Outcome[] = []
  const ended = recorded(
    (tell) => answer(callsOn(engine, caller.signal), { request: request(), deltas: true, ...change }, tell),
    async (outcome) => void reports.push(outcome),
    (step) => {
      assert.equal(reports.length, 0, 'the report comes after every step')
      onward?.(step, caller)
    },
  )
  return { ended, reports, upstream }
}

test('a whole answer is reported without an error, before the end is told', async (t) => {
  const { ended, reports } = await turn(t, says('Hi'))
  assert.equal((await ended).answer.content, 'Hi')
  assert.equal(reports.length, 1)
  assert.deepEqual([reports[0]?.answer?.content, reports[0]?.error], ['Hi', undefined])
})

test('a failure before the first word is reported with its reason and no cost', async (t) => {
  const { ended, reports } = await turn(t, answers(400, { error: { message: 'bad temperature' } }))
  await assert.rejects(ended)
  assert.equal(reports.length, 1)
  assert.deepEqual([reports[0]?.error, reports[0]?.partial], ['bad temperature', undefined])
})

test('a failure in the middle is reported with what was written and what it cost', async (t) => {
  const { ended, reports } = await turn(t, resets(piece({ content: 'Once ' }), piece({ content: 'upon' })))
  await assert.rejects(ended)
  assert.equal(reports.length, 1)
  assert.equal(reports[0]?.partial?.content, 'Once upon')
  assert.deepEqual(reports[0]?.partial?.usage, {
    prompt_tokens: 3,
    completion_tokens: 2,
    total_tokens: 5,
    estimated: true,
  })
})

test('a client that leaves in the middle is reported with the tokens used so far', async (t) => {
  const { ended, reports, upstream } = await turn(t, fallsSilent(piece({ content: 'Once' })), {
    onward: (step, caller) => void ('delta' in step && caller.abort()),
  })
  await assert.rejects(ended, { name: 'AbortError' })
  assert.equal(reports.length, 1)
  assert.match(reports[0]?.error ?? '', /client left/)
  assert.equal(reports[0]?.partial?.usage.completion_tokens, 1)
  assert.equal(await upstream.requests[0]?.wasAbandoned, true)
})

test('a client that leaves before the first step is reported too', async (t) => {
  const { ended, reports, upstream } = await turn(t, says('never asked'), { hasLeft: true })
  await assert.rejects(ended, { name: 'AbortError' })
  assert.deepEqual([reports.length, upstream.requests.length], [1, 0])
  assert.match(reports[0]?.error ?? '', /client left/)
})

test('a client that leaves after the whole answer came is no failure', async (t) => {
  const { ended, reports } = await turn(t, says('Hi'), {
    onward: (step, caller) => void ('answer' in step && caller.abort()),
  })
  await ended
  assert.deepEqual([reports.length, reports[0]?.answer?.content, reports[0]?.error], [1, 'Hi', undefined])
})

test('a report that fails is heard of, and not made twice', async (t) => {
  const { engine } = await connectTo(t, {}, says('Hi'))
  let reports = 0
  const ended = recorded(
    (tell) => answer(callsOn(engine), { request: request(), deltas: true }, tell),
    async () => {
      reports++
      throw new Error('no database')
    },
  )
  await assert.rejects(ended, /no database/)
  assert.equal(reports, 1)
})

test('an echo is no part of what a failed or abandoned answer said or cost', async (t) => {
  const change = { echo: true }
  const refused = await turn(t, answers(400, { error: { message: 'no' } }), { change })
  await assert.rejects(refused.ended)
  assert.equal(refused.reports[0]?.partial, undefined)
  const left = await turn(t, fallsSilent(), {
    change,
    onward: (step, caller) => void ('echo' in step && caller.abort()),
  })
  await assert.rejects(left.ended, { name: 'AbortError' })
  const { content, usage } = left.reports[0]!.partial!
  assert.deepEqual([content, usage.completion_tokens], ['', 0])
  const broken = await turn(t, resets(piece({ content: 'Once' })), { change })
  await assert.rejects(broken.ended)
  assert.equal(broken.reports[0]?.partial?.content, 'Hello thereOnce')
  assert.equal(broken.reports[0]?.partial?.usage.completion_tokens, 1)
})

test('what a guard took is reported when its verdict cannot be read, and when nobody waits for it', async (t) => {
  const change = { guard: { model: 'llama-guard' } }
  const unreadable = await turn(t, says('hm'), { change })
  await assert.rejects(unreadable.ended)
  assert.equal(unreadable.reports[0]?.spent?.total_tokens, 10)
  const caller = new AbortController()
  const { engine, upstream } = await connectTo(t, {}, fallsSilent())
  const reports: Outcome[] = []
  const ended = recorded(
    (tell) => answer(callsOn(engine, caller.signal), { request: request(), deltas: true, ...change }, tell),
    async (outcome) => void reports.push(outcome),
  )
  const left = assert.rejects(ended, { name: 'AbortError' })
  await t.waitFor(() => assert.equal(upstream.requests.length, 1), { timeout: 5_000 })
  caller.abort()
  await left
  assert.equal(reports[0]?.spent?.prompt_tokens, 3)
})
