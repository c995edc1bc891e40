// Insights as a client sees them (contract 2.17, 4.2.9): what the model is told, what comes out, and what it may cost.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Agent, request } from 'undici'
import { newId } from '../../src/base/ids.ts'
import { listen, logsOf, startTalking, type TalkingService } from '../support/completions.ts'
import { insightAnswer } from '../support/insight-answer.ts'
import { fallsSilent, type Play, says } from '../support/scripted-upstream.ts'
import { type Person, startService, until } from '../support/service.ts'

const good = says({ pieces: [JSON.stringify(insightAnswer)], reasoning: ['hm'] })
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

let service: TalkingService
let play: Play = good
before(async () => {
  service = await startTalking({}, (response, sent) => play(response, sent))
})
after(() => service.close())

const ask = (body: object) => service.ana.call('POST', service.at('/insights'), { client: 'Ada, 31', ...body })
const promptOf = () => service.upstream.requests.at(-1)!.body.messages[1]!.content
const listed = () => /<actions>\n([\s\S]*)\n<\/actions>/.exec(promptOf())![1]!.split('\n')

const basics = { name: 'Call', description: 'Call the client', type: 'contact', priority: 'medium' }
async function anAction(more: object, person: Person = service.ana, path = service.at('/actions')): Promise<string> {
  const { status, body } = await person.call('POST', path, { ...basics, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  return body.id
}

test('the result has the fields of the contract and no others, and its id leads to its log', async () => {
  const { status, body } = await ask({ actions: ['offer a mortgage'] })
  assert.equal(status, 200)
  const { id, elapsed_time_in_seconds, ...rest } = body
  assert.deepEqual(rest, { ...insightAnswer, thinking: 'hm', finish_reason: 'stop', usage })
  assert.equal(typeof elapsed_time_in_seconds, 'number')
  await service.process.services.records.logs.flushed()
  const log = (await service.ana.call('GET', service.at(`/logs/${id}`))).body
  assert.deepEqual([log.api, log.type, log.model], ['insights.create', 'insight', 'm'])
  assert.deepEqual(JSON.parse(log.response_log.answer.content), insightAnswer)
  assert.match(log.messages[1].content, /Ada, 31/)
})

test('model, limits and sampling reach the model, and echo puts the client before the insight', async () => {
  const { body } = await ask({ model: 'big', max_tokens: 300, temperature: 0.1, top_p: 0.9, echo: true })
  const sent = service.upstream.requests.at(-1)!.body
  assert.deepEqual([sent.model, sent['max_tokens'], sent['temperature'], sent['top_p']], ['big', 300, 0.1, 0.9])
  assert.equal(body.insight, `Ada, 31${insightAnswer.insight}`)
})

describe('actions', () => {
  test('ids, names and words are understood side by side, in the order given', async () => {
    const id = await anAction({ name: 'Loan', description: 'Offer a loan', channel: 'phone', status: 'archived' })
    await anAction({ name: 'Send a Letter', custom_insights: 'older clients like it' })
    await ask({ actions: ['wave', id, ' send a letter '] })
    assert.deepEqual(listed(), [
      '- wave',
      '- Loan: Offer a loan (type: contact; priority: medium; channel: phone)',
      '- Send a Letter: Call the client (type: contact; priority: medium; known about it: older clients like it)',
    ])
  })

  test('of two actions with one name the active one is meant', async () => {
    await anAction({ name: 'Twin', description: 'old', status: 'active' })
    await anAction({ name: 'Twin', description: 'new', status: 'draft' })
    await ask({ actions: ['twin'] })
    assert.match(listed()[0]!, /Twin: old/)
  })

  test('without any, those that are active today are on offer, the most important first', async () => {
    const other = (await service.ana.call('POST', '/v1/spaces', { name: 'offers', description: '' })).body.id
    const person = await service.signIn('ana', ['admins'])
    const here = `/v1/spaces/${other}`
    const active = { status: 'active', description: '' }
    await anAction({ ...active, name: 'Low', priority: 'low' }, person, `${here}/actions`)
    await anAction({ ...active, name: 'High', priority: 'very_high' }, person, `${here}/actions`)
    await anAction({ ...active, name: 'Over', end_date: '2020-01-01T00:00:00Z' }, person, `${here}/actions`)
    await anAction({ ...active, name: 'Later', start_date: '2999-01-01T00:00:00Z' }, person, `${here}/actions`)
    await anAction({ name: 'Draft' }, person, `${here}/actions`)
    for (const actions of [undefined, []]) {
      assert.equal((await person.call('POST', `${here}/insights`, { client: 'Ada', actions })).status, 200)
      assert.deepEqual(listed(), [
        '- High (type: contact; priority: very high)',
        '- Low (type: contact; priority: low)',
      ])
    }
  })

  test('another space’s actions are unknown: a name stays words, an id is refused before a model is asked', async () => {
    const other = (await service.ana.call('POST', '/v1/spaces', { name: 'other', description: '' })).body.id
    const person = await service.signIn('ana', ['admins'])
    const foreign = await anAction({ name: 'Theirs' }, person, `/v1/spaces/${other}/actions`)
    await ask({ actions: ['theirs'] })
    assert.deepEqual(listed(), ['- theirs'])
    const asked = service.upstream.requests.length
    for (const id of [newId(), foreign]) {
      const { status, body } = await ask({ actions: ['wave', id] })
      assert.deepEqual([status, body.error.code, body.error.param], [400, 'invalid_reference', 'actions.1'])
    }
    assert.equal(service.upstream.requests.length, asked)
  })

  test('a stored text of any length takes a bounded part of the prompt', async () => {
    const long = 'x'.repeat(150_000)
    const id = await anAction({ name: long, description: long, type: long, channel: long, custom_insights: long })
    await ask({ actions: [id] })
    assert.ok(promptOf().length < 10_000)
  })
})

test('what is not a request for an insight is refused, and the field is named', async () => {
  for (const [body, param] of [
    [{ client: undefined }, 'client'],
    [{ client: '' }, 'client'],
    [{ client: {} }, 'client'],
    [{ actions: 'call' }, 'actions'],
    [{ actions: [''] }, 'actions.0'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ top_p: 2 }, 'top_p'],
    [{ stream: true }, 'stream'],
  ] as const) {
    const reply = await ask(body)
    assert.deepEqual([reply.status, reply.body.error.param], [400, param], reply.text)
  }
})

test('a repeat with the same Idempotency-Key does not ask the model again', async () => {
  const once = () =>
    service.ana.call('POST', service.at('/insights'), { client: 'Ada' }, { 'idempotency-key': 'one-insight' })
  const first = await once()
  const asked = service.upstream.requests.length
  assert.deepEqual((await once()).body, first.body)
  assert.equal(service.upstream.requests.length, asked)
})

test('a client that leaves in the repair frees the server, and its log counts both calls', async () => {
  const plays = [says('no'), fallsSilent()]
  play = (response, sent) => plays.shift()!(response, sent)
  const agent = new Agent()
  const since = service.upstream.requests.length
  const left = request((await listen(service)) + service.at('/insights'), {
    dispatcher: agent,
    method: 'POST',
    headers: { authorization: `Bearer ${service.ana.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ client: 'Ada', model: 'left' }),
  })
  left.catch(() => {})
  await until('the repair is asked for', () => service.upstream.requests.length === since + 2)
  await agent.destroy()
  assert.equal(await service.upstream.requests.at(-1)!.wasAbandoned, true)
  await until('the log is there', async () => (await logsOf(service, '?model=left')).length === 1)
  const [log] = await logsOf(service, '?model=left')
  assert.equal(log.status, 'error')
  assert.match(log.error_message, /left/)
  assert.ok(log.total_tokens > 10 + 50, String(log.total_tokens))
  play = good
})

test('a budget that is used up refuses the call before a model is asked', async () => {
  const small = await startTalking({ BUDGET_SPACE_TOKENS_PER_DAY: '15' }, good)
  try {
    const post = () => small.ana.call('POST', small.at('/insights'), { client: 'Ada' })
    assert.equal((await post()).status, 200)
    assert.equal((await post()).status, 200)
    const { status, body, headers } = await post()
    assert.deepEqual([status, body.error.code, body.error.param], [429, 'budget_exceeded', 'tokens_per_day.space'])
    assert.ok(Number(headers['retry-after']) > 0)
    assert.equal(small.upstream.requests.length, 2)
  } finally {
    await small.close()
  }
})

test('without a model server it is said how to connect one', async () => {
  const bare = await startService()
  try {
    const ana = await bare.signIn('ana', ['admins'])
    const url = `/v1/spaces/${await bare.firstSpace()}/insights`
    assert.equal((await ana.call('POST', url, { client: 'Ada' })).body.error.code, 'no_inference_backend')
  } finally {
    await bare.close()
  }
})
