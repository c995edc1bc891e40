// Inference end to end on a real, tiny model inside this process: its words are childish, its shapes must be right.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { callsOn, noEmbeddedModel, request, testModelFile } from '../../test/support/model-calls.ts'
import { type LlamaEngine, openLlama } from '../outside/models/llama.ts'
import { answer } from './answer.ts'
import { argumentCall, toArgument } from './argument.ts'
import { insightCall, toInsight } from './insight.ts'
import { recorded } from './outcome.ts'
import { askForJson } from './structured.ts'

describe('a model in this process', { skip: noEmbeddedModel }, () => {
  let engine: LlamaEngine
  before(async () => {
    engine = await openLlama({ modelFile: testModelFile })
  })
  after(() => engine.close())

  test('an insight bound by grammar fits the schema', async () => {
    const input = { model: 'any', client: 'Ada', actions: ['call her'], temperature: 0, max_tokens: 900 }
    const result = toInsight('i1', input, await askForJson(callsOn(engine), insightCall(input)))
    assert.equal(result.error, undefined)
    assert.equal(typeof result.best_time, 'string')
    assert.ok(result.usage.completion_tokens > 0)
  })

  test('an argument bound by grammar fits the schema', async () => {
    const input = { model: 'any', client: { name: 'Ada' }, insight_spec: {}, product: { name: 'Bike' }, temperature: 0 }
    const result = toArgument(input, await askForJson(callsOn(engine), argumentCall({ ...input, max_tokens: 900 })))
    assert.equal(result.error, undefined)
    assert.equal(typeof result.argument, 'string')
  })

  test('guard and router get readable verdicts from any model at all', async () => {
    const experts = ['law', 'finance'].map((name) => ({ id: name, name, description: name }))
    const turn = {
      request: request({ max_tokens: 20 }),
      deltas: false,
      guard: { model: 'any' },
      router: { model: 'any', experts },
    }
    const {
      guard,
      router,
      answer: reply,
    } = await recorded(
      (tell) => answer(callsOn(engine), turn, tell),
      async () => {},
    )
    assert.ok(guard?.status === 'passed' || guard?.status === 'flagged')
    if (guard.status === 'flagged') assert.equal(reply.finish_reason, 'content_filter')
    else assert.ok(['law', 'finance', 'none'].includes(router?.expert ?? ''))
  })
})
