// A real model end to end: llama.cpp in the service's own process, through the API.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openStream, readEvents, type TalkingService, user, wordsIn } from '../support/completions.ts'
import { noEmbeddedModel, testModelFile } from '../support/model-calls.ts'
import { startService, until } from '../support/service.ts'

describe('the embedded model', { skip: noEmbeddedModel }, () => {
  let service: TalkingService
  before(async () => {
    const started = await startService({ env: { INFERENCE_MODEL_FILE: testModelFile } })
    const space = await started.firstSpace()
    const ana = await started.signIn('ana', ['admins'])
    const at = (path: string) => `/v1/spaces/${space}${path}`
    service = { ...started, space, ana, at, upstream: undefined as never }
  })
  after(() => service.close())
  const complete = (body: object) =>
    service.ana.call('POST', service.at('/chats/completions'), { messages: [user('Once upon a time')], ...body })
  const logs = async (type: string) =>
    (await service.ana.call('GET', service.at(`/logs?type=${type}`))).body.data as {
      status: string
      total_tokens: number
    }[]

  test('it streams tokens, counts them and stops at the limit', async () => {
    const { events, isDone } = readEvents((await complete({ stream: true, max_tokens: 12 })).text)
    assert.ok(isDone)
    assert.ok(events.filter(({ choices }) => choices[0]?.delta.content).length > 3)
    assert.ok(wordsIn(events).length > 10)
    assert.equal(events.at(-2).choices[0].finish_reason, 'length')
    assert.equal(events.at(-1).usage.completion_tokens, 12)
  })

  test('it obeys a JSON schema', async () => {
    const schema = { type: 'object', properties: { color: { enum: ['red', 'blue'] } }, required: ['color'] }
    const { status, body } = await complete({
      response_format: { type: 'json_schema', json_schema: { name: 'c', schema } },
    })
    assert.equal(status, 200)
    assert.match(JSON.parse(body.choices[0].message.content).color, /^(red|blue)$/)
  })

  test('it stops when its reader leaves, and is free for the next', async () => {
    const stream = await openStream(service, { messages: [user('Once')], type: 'left' })
    for await (const chunk of stream.body) if (String(chunk).includes('content')) break
    await stream.leave()
    await until('the log is there', async () => (await logs('left')).length === 1)
    const [log] = await logs('left')
    assert.equal(log!.status, 'error')
    assert.ok(log!.total_tokens > 0)
    assert.equal((await complete({ max_tokens: 3 })).status, 200)
  })

  test('it is listed, and is the default', async () => {
    const { body } = await service.ana.call('GET', service.at('/models'))
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      ['stories260K'],
    )
    assert.equal((await complete({ max_tokens: 2 })).body.model, 'stories260K')
  })
})
