// Settings of a space: read, changed in part, taken back, and in force from the next completion on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTalking, type TalkingService, user } from '../support/completions.ts'
import { says } from '../support/scripted-upstream.ts'

let service: TalkingService
let url: string
before(async () => {
  service = await startTalking({}, says('{"verdict": "safe", "categories": []}'))
  url = `/v1/spaces/${service.space}/settings`
})
after(() => service.close())

test('only what is given changes, and null takes a setting back', async () => {
  const { ana } = service
  assert.deepEqual((await ana.call('GET', url)).body, { guard_fail_open: false })
  await ana.call('PUT', url, { guard_model: 'g', router_model: 'r' })
  await ana.call('PATCH', url, { guard_fail_open: true, router_model: null })
  assert.deepEqual((await ana.call('GET', url)).body, { guard_model: 'g', guard_fail_open: true })
  assert.equal((await ana.call('PUT', url, { guard_modell: 'x' })).body.error.code, 'unknown_field')
  await ana.call('PUT', url, { guard_model: null, guard_fail_open: false })
  const [entry] = (await ana.call('GET', '/v1/audit')).body.data
  assert.equal(entry.action, 'spaces.update-settings')
  assert.deepEqual(entry.before, { guard_model: 'g', guard_fail_open: true })
})

test('two changes at the same time both stay', async () => {
  const { ana } = service
  for (let round = 1; round <= 20; round++) {
    const changes = [{ guard_model: `g${round}` }, { router_model: `r${round}` }, { tokens_per_day: round }]
    await Promise.all(changes.map((change) => ana.call('PUT', url, change)))
    assert.deepEqual((await ana.call('GET', url)).body, Object.assign({ guard_fail_open: false }, ...changes))
  }
  await ana.call('PUT', url, { guard_model: null, router_model: null, tokens_per_day: null })
})

test('a guard under another name is asked as the space says', async () => {
  const { ana, at, upstream } = service
  const asked = upstream.requests.length
  assert.equal((await ana.call('PUT', url, { guard_model: 'prod-guard', guard_style: 'shield-gemma' })).status, 200)
  const body = { messages: [user('Nice day')], guard_enabled: true }
  const { status } = await ana.call('POST', at('/chats/completions'), body)
  assert.equal(status, 503, 'the script speaks JSON, which is no verdict of this family')
  assert.equal(upstream.requests[asked]!.body.response_format, undefined)
  assert.equal((await ana.call('PUT', url, { guard_style: 'lama-guard' })).body.error.param, 'guard_style')
  await ana.call('PUT', url, { guard_model: null, guard_style: null })
})

test('guard model and policy count from the next completion on', async () => {
  const { ana, at, upstream } = service
  await ana.call('PUT', url, { guard_model: 'judge', guard_policy: 'No talk about the weather.' })
  const body = { messages: [user('Nice day')], guard_enabled: true }
  assert.equal((await ana.call('POST', at('/chats/completions'), body)).status, 200)
  const asked = upstream.requests.at(-2)
  assert.equal(asked!.body.model, 'judge')
  assert.match(asked!.body.messages[0]!.content, /No talk about the weather\./)
})
