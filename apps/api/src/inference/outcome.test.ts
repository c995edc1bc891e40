// What is reported of a turn: always something, and exactly once.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { callsOn, connectTo, request } from '../../test/support/model-calls.ts'
import { answers, fallsSilent, type Play, piece, resets, says } from '../../test/support/scripted-upstream.ts'
import { answer } from './answer.ts'
import { type Outcome, recorded } from './outcome.ts'

async function turn(t: TestContext, play: Play) {
  const { engine, upstream } = await connectTo(t, {}, play)
  const caller = new AbortController()
  const reports: Outcome[] = []
  const steps = recorded(answer(callsOn(engine, caller.signal), { request: request() }), async (outcome) => {
    reports.push(outcome)
  })
  return { steps, reports, caller, upstream }
}

async function readAll(steps: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of steps);
}

test('a whole answer is reported without an error, before the end is told', async (t) => {
  const { steps, reports } = await turn(t, says('Hi'))
  for (let next = await steps.next(); !next.done; next = await steps.next()) assert.equal(reports.length, 0)
  assert.equal(reports.length, 1)
  assert.deepEqual([reports[0]?.answer?.content, reports[0]?.error], ['Hi', undefined])
})

test('a failure before the first word is reported with its reason and no cost', async (t) => {
  const { steps, reports } = await turn(t, answers(400, { error: { message: 'bad temperature' } }))
  await assert.rejects(readAll(steps))
  assert.equal(reports.length, 1)
  assert.deepEqual([reports[0]?.error, reports[0]?.partial], ['bad temperature', undefined])
})

test('a failure in the middle is reported with what was written and what it cost', async (t) => {
  const { steps, reports } = await turn(t, resets(piece({ content: 'Once ' }), piece({ content: 'upon' })))
  await assert.rejects(readAll(steps))
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
  const { steps, reports, caller, upstream } = await turn(t, fallsSilent(piece({ content: 'Once' })))
  await steps.next()
  await steps.next()
  const pending = assert.rejects(async () => steps.next(), { name: 'AbortError' })
  caller.abort()
  await pending
  await steps.return?.()
  assert.equal(reports.length, 1)
  assert.match(reports[0]?.error ?? '', /client left/)
  assert.equal(reports[0]?.partial?.usage.completion_tokens, 1)
  assert.equal(await upstream.requests[0]?.wasAbandoned, true)
})

test('a client that leaves before the first step is reported too', async (t) => {
  const { steps, reports, upstream } = await turn(t, says('never asked'))
  await steps.return?.()
  assert.equal(reports.length, 1)
  assert.deepEqual([reports[0]?.partial, upstream.requests.length], [undefined, 0])
  assert.match(reports[0]?.error ?? '', /client left/)
})

test('a client that leaves after the whole answer came is no failure', async (t) => {
  const { steps, reports } = await turn(t, says('Hi'))
  for await (const step of steps) if ('answer' in step) break
  assert.deepEqual([reports.length, reports[0]?.answer?.content, reports[0]?.error], [1, 'Hi', undefined])
})

test('a report that fails is heard of, and not made twice', async (t) => {
  const { engine } = await connectTo(t, {}, says('Hi'))
  let reports = 0
  const steps = recorded(answer(callsOn(engine), { request: request() }), async () => {
    reports++
    throw new Error('no database')
  })
  await assert.rejects(readAll(steps), /no database/)
  assert.equal(reports, 1)
})
