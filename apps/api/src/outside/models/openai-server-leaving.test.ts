// A caller that leaves: the server is freed at once, wherever the call stands.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, connectTo, problemOf, request } from '../../../test/support/model-calls.ts'
import { answers, fallsSilent, piece, streams } from '../../../test/support/scripted-upstream.ts'
import { Problem } from '../../base/problem.ts'

test('a caller that leaves frees the server at once, at every stage', async (t) => {
  const stages = { 'before an answer': fallsSilent(), 'in the answer': fallsSilent(piece({ content: 'Hel' })) }
  for (const [stage, play] of Object.entries(stages)) {
    const { engine, upstream } = await connectTo(t, {}, play)
    const caller = new AbortController()
    const spoken = Promise.withResolvers<void>()
    const pending = assert.rejects(
      engine.ask(request(), caller.signal, () => spoken.resolve()),
      { name: 'AbortError' },
    )
    if (stage === 'in the answer') await spoken.promise
    await t.waitFor(() => assert.equal(upstream.requests.length, 1), { timeout: 5_000 })
    const leftAt = performance.now()
    caller.abort()
    await pending
    assert.equal(await upstream.requests[0]?.wasAbandoned, true)
    assert.ok(performance.now() - leftAt < 1000, stage)
  }
})

test('a listener that fails ends the call and frees the server as well', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, fallsSilent(piece({ content: 'Hel' })))
  const failing = engine.ask(request(), new AbortController().signal, () => {
    throw new Problem('internal', 'enough')
  })
  assert.equal((await problemOf(failing)).message, 'enough')
  assert.equal(await upstream.requests[0]?.wasAbandoned, true)
})

test('a listener that asks for a pause gets the rest after it, and the server is not blamed', async (t) => {
  const pieces = ['a', 'b', 'c'].map((content) => piece({ content }))
  const { engine } = await connectTo(t, { timings: { idleMs: 100 } }, streams(...pieces, piece({}, 'stop')))
  const heard: string[] = []
  const reply = await engine.ask(request(), new AbortController().signal, async ({ content }) => {
    await new Promise((resolve) => setTimeout(resolve, 150))
    heard.push(content!)
  })
  assert.deepEqual([heard.join(''), reply.content], ['abc', 'abc'])
})

test('a caller that leaves while a retry waits is answered at once', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, answers(503, {}, { 'retry-after': '20' }))
  const caller = new AbortController()
  const pending = assert.rejects(collect(engine, {}, caller.signal), { name: 'AbortError' })
  await t.waitFor(() => assert.equal(upstream.requests.length, 1), { timeout: 5_000 })
  caller.abort()
  await pending
})
