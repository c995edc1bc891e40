// The order and shape of streamed chunks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callsOn, connectTo, request } from '../../test/support/model-calls.ts'
import { type Play, says } from '../../test/support/scripted-upstream.ts'
import type { Engine } from '../outside/models/engine.ts'
import { answer, type Turn } from './answer.ts'
import { type ChunkBody, chunkMaker } from './chunks.ts'

const cast =
  (guard: string): Play =>
  (response, seen) =>
    says(seen.body.model === 'llama-guard' ? guard : { pieces: ['Hel', 'lo'] })(response, seen)

async function chunksOf<Head extends object>(engine: Engine, turn: Omit<Turn, 'deltas'>, head: Head) {
  const made = chunkMaker(head)
  const chunks: (Head & ChunkBody)[] = []
  await answer(callsOn(engine), { ...turn, deltas: true }, (step) => void chunks.push(...made(step)))
  return chunks
}

test('guard, router, deltas, finish, then the usage that repeats guard and router', async (t) => {
  const { engine } = await connectTo(t, {}, cast('safe'))
  const router = { model: 'm', experts: [{ id: 'e', name: 'law', description: '' }] }
  const turn = { request: request(), guard: { model: 'llama-guard' }, router }
  const chunks = await chunksOf(engine, turn, { id: 'c1' })
  assert.deepEqual(
    chunks.map(({ choices: [choice] }) => choice?.finish_reason ?? choice?.delta.content ?? choice),
    [
      { index: 0, delta: {}, finish_reason: null },
      { index: 0, delta: {}, finish_reason: null },
      'Hel',
      'lo',
      'stop',
      undefined,
    ],
  )
  assert.deepEqual([chunks[0]?.guard?.category, chunks[1]?.router?.expert], ['safe', 'law'])
  assert.deepEqual([chunks[2]?.choices[0]?.delta.role, chunks[3]?.choices[0]?.delta.role], ['assistant', undefined])
  const last = chunks.at(-1)
  assert.deepEqual([last?.usage?.total_tokens, last?.guard?.category, last?.router?.expert], [10, 'safe', 'law'])
  assert.ok(chunks.every(({ id }) => id === 'c1'))
})

test('flagged: the guard, one refusal, content_filter, and nothing more', async (t) => {
  const { engine } = await connectTo(t, {}, cast('unsafe\nS1'))
  const turn = { request: request(), guard: { model: 'llama-guard' } }
  const chunks = await chunksOf(engine, turn, {})
  assert.deepEqual(
    chunks.map(({ guard, choices: [choice] }) => guard?.category ?? choice?.finish_reason ?? choice?.delta.content),
    ['S1', 'I cannot help with that.', 'content_filter'],
  )
})
