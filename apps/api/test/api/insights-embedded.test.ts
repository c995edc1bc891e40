// Structured answers of a real, tiny model in the service's own process: its words are childish, its shapes must be right.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { noEmbeddedModel, testModelFile } from '../support/model-calls.ts'
import { type Person, type Service, startService } from '../support/service.ts'

describe('the embedded model', { skip: noEmbeddedModel }, () => {
  let service: Service
  let ana: Person
  let at: string
  before(async () => {
    service = await startService({ env: { INFERENCE_MODEL_FILE: testModelFile } })
    ana = await service.signIn('ana', ['admins'])
    at = `/v1/spaces/${await service.firstSpace()}`
  })
  after(() => service.close())

  test('its insight fits the schema', async () => {
    const asked = { client: 'Ada', actions: ['call her'], temperature: 0, max_tokens: 900 }
    const { status, body } = await ana.call('POST', `${at}/insights`, asked)
    assert.deepEqual([status, body.error], [200, undefined])
    for (const field of ['insight', 'type', 'timeliness', 'actions', 'argument', 'best_channel', 'best_time'])
      assert.equal(typeof body[field], 'string', field)
    assert.ok(body.usage.completion_tokens > 0)
  })

  test('its argument fits the schema and is kept', async () => {
    const asked = { model: 'stories260K', client: { name: 'Ada' }, insight_spec: {}, product: { name: 'Bike' } }
    const { status, body } = await ana.call('POST', `${at}/arguments/completions`, {
      ...asked,
      temperature: 0,
      max_tokens: 900,
    })
    assert.deepEqual([status, body.error], [200, undefined])
    assert.equal((await ana.call('GET', `${at}/arguments/${body.id}`)).body.argument, body.argument)
  })

  test('its persona fits the schema, unless it never came to an end', async () => {
    const wish = { prompt: 'A pilot', current_persona: { name: 'Otto' } }
    const { status, body } = await ana.call('POST', `${at}/personas/completions`, wish)
    assert.equal(status, 200)
    if (body.persona) assert.equal(typeof body.persona.name, 'string')
    else assert.match(body.error, /cut off/)
  })
})
