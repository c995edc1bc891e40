// A caller that leaves: the server is freed at once, wherever the call stands.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collect, connectTo, request } from '../../../test/support/model-calls.ts'
import { answers, fallsSilent, piece } from '../../../test/support/scripted-upstream.ts'

test('a caller that leaves frees the server at once, at every stage', async (t) => {
  const stages = { 'before an answer': fallsSilent(), 'in the answer': fallsSilent(piece({ content: 'Hel' })) }
  for (const [stage, play] of Object.entries(stages)) {
    const { engine, upstream } = await connectTo(t, {}, play)
    const caller = new AbortController()
    const parts = engine.stream(request(), caller.signal)[Symbol.asyncIterator]()
    if (stage === 'in the answer') await parts.next()
    const pending = assert.rejects(async () => parts.next(), { name: 'AbortError' })
    await t.waitFor(() => assert.equal(upstream.requests.length, 1), { timeout: 5_000 })
    const leftAt = performance.now()
    caller.abort()
    await pending
    assert.equal(await upstream.requests[0]?.wasAbandoned, true)
    assert.ok(performance.now() - leftAt < 1000, stage)
  }
})

test('a reader that stops reading frees the server as well', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, fallsSilent(piece({ content: 'Hel' })))
  for await (const _ of engine.stream(request(), new AbortController().signal)) break
  assert.equal(await upstream.requests[0]?.wasAbandoned, true)
})

test('a caller that leaves while a retry waits is answered at once', async (t) => {
  const { engine, upstream } = await connectTo(t, {}, answers(503, {}, { 'retry-after': '20' }))
  const caller = new AbortController()
  const pending = assert.rejects(collect(engine, {}, caller.signal), { name: 'AbortError' })
  await t.waitFor(() => assert.equal(upstream.requests.length, 1), { timeout: 5_000 })
  caller.abort()
  await pending
})
