// Structured answers from every kind of model server: insights, arguments and personas, each through the API.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { logsOf, startTalking, type TalkingService } from '../support/completions.ts'
import { insightAnswer } from '../support/insight-answer.ts'
import { answers, type Play, says } from '../support/scripted-upstream.ts'

let service: TalkingService
let play: Play
before(async () => {
  service = await startTalking({}, (response, request) => play(response, request))
})
after(() => service.close())

interface Operation {
  readonly path: string
  readonly body: object
  /** A usable answer of the model. */
  readonly answer: object
  /** The field of the result that shows that the answer was understood. */
  readonly field: string
  readonly value: unknown
}

const operations: Record<string, Operation> = {
  insight: {
    path: '/insights',
    body: { client: 'Ada, 31', actions: ['offer a mortgage', 'wait'] },
    answer: insightAnswer,
    field: 'best_time',
    value: 'evening',
  },
  argument: {
    path: '/arguments/completions',
    body: { client: { age: 31 }, insight_spec: { type: 'pension' }, product: { name: 'Pension' } },
    answer: { argument_thinking: 'young', argument: 'Start early' },
    field: 'argument',
    value: 'Start early',
  },
  persona: {
    path: '/personas/completions',
    body: { prompt: 'Make him older', current_persona: { name: 'Otto', data: { city: 'Ulm' } } },
    answer: { message: 'Older now', name: '', notes: 'Retired', birthdate: '1950-01-01', data: [] },
    field: 'persona',
    value: { name: 'Otto', notes: 'Retired', birthdate: '1950-01-01', data: { city: 'Ulm' } },
  },
}

for (const [type, { path, body, answer, field, value }] of Object.entries(operations)) {
  describe(`${type}:`, () => {
    /** Each server is another model, since what one cannot do is remembered. */
    const ask = (model: string) => service.ana.call('POST', service.at(path), { ...body, model })
    const formats = (since: number) =>
      service.upstream.requests.slice(since).map(({ body: sent }) => sent.response_format?.type)

    const understood = async (model: string, calls: number) => {
      const reply = await ask(model)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.body.error, undefined)
      assert.deepEqual(reply.body[field], value)
      const logs = await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)
      assert.equal(logs.length, 1)
      const { status, model: asked, type: kind, total_tokens, stream, user } = logs[0]
      assert.deepEqual(
        { status, asked, kind, total_tokens, stream, user },
        { status: 'success', asked: model, kind: type, total_tokens: 10 * calls, stream: false, user: 'ana' },
      )
    }

    test('a server that can be bound to a schema is bound to it', async () => {
      play = says(JSON.stringify(answer))
      const since = service.upstream.requests.length
      await understood('obeys', 1)
      assert.deepEqual(formats(since), ['json_schema'])
    })

    test('a server that answers 400 to a schema is asked for JSON, and the next time at once', async () => {
      const fits = says(JSON.stringify(answer))
      play = (response, request) =>
        request.body.response_format?.type === 'json_schema'
          ? answers(400, { error: { message: 'json_schema is not supported' } })(response, request)
          : fits(response, request)
      const since = service.upstream.requests.length
      const model = `knows-no-schema-${type}`
      await understood(model, 1)
      await understood(model, 1)
      assert.deepEqual(formats(since), ['json_schema', 'json_object', 'json_object'])
    })

    test('JSON is found behind thoughts and in prose', async () => {
      play = says(`<think>{"draft": 1}</think>Sure, here it is:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`\nOK?`)
      await understood('talks', 1)
    })

    test('an answer that does not fit is repaired once', async () => {
      const plays = [says('{"nearly": "right"}'), says(JSON.stringify(answer))]
      play = (response, request) => plays.shift()!(response, request)
      await understood('learns', 2)
    })

    test('a model that never obeys gives 200 with the reason, after one repair, and a log that says error', async () => {
      play = says('I would rather talk about the weather')
      const since = service.upstream.requests.length
      const reply = await ask('refuses')
      assert.equal(reply.status, 200, reply.text)
      assert.match(reply.body.error, /no usable answer/)
      assert.equal(reply.body[field], undefined)
      assert.equal(service.upstream.requests.length, since + 2)
      const [log, ...others] = await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)
      assert.equal(others.length, 0)
      assert.deepEqual([log.status, log.error_message, log.total_tokens], ['error', reply.body.error, 20])
      assert.equal(log.response_log.answer.content, 'I would rather talk about the weather')
    })

    test('a server that fails is an error of the gateway, logged once', async () => {
      play = answers(500, { error: { message: 'out of memory' } })
      const reply = await ask('breaks')
      assert.deepEqual([reply.status, reply.body.error.code], [502, 'upstream_error'])
      const logs = await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)
      assert.deepEqual(
        logs.map(({ status, total_tokens, error_message }) => [status, total_tokens, error_message]),
        [['error', 0, reply.body.error.message]],
      )
    })

    test('characters that cannot be stored do no harm when a model writes them', async () => {
      const odd = JSON.parse(JSON.stringify(answer).replace(/"(:)"/, '"$1"\\u0000\\ud800'))
      play = says(JSON.stringify(odd))
      const reply = await ask('odd')
      assert.equal(reply.status, 200, reply.text)
      assert.equal((await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)).length, 1)
    })
  })
}
