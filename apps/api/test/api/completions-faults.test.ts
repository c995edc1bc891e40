// A model server that misbehaves: each fault ends in the right answer or a clear error, and in exactly one honest log.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { logsOf, readEvents, startTalking, type TalkingService, user, wordsIn } from '../support/completions.ts'
import {
  answers,
  endsAfter,
  type Play,
  piece,
  resets,
  says,
  streams,
  usageChunk,
} from '../support/scripted-upstream.ts'

let service: TalkingService
let plays: Play[] = []
before(async () => {
  service = await startTalking({}, (response, request) =>
    (plays.length > 1 ? plays.shift()! : plays[0]!)(response, request),
  )
})
after(() => service.close())

interface Fault {
  readonly plays: Play[]
  readonly status: number
  readonly code?: string
  /** The tokens that the log must show. */
  readonly tokens: number
  readonly words?: string
}

const words = piece({ content: 'Hel' })
const plainFaults: Record<string, Fault> = {
  'a refusal that concerns the request is passed on': {
    plays: [answers(400, { error: { message: 'max_tokens is too large' } })],
    status: 400,
    code: 'invalid_request',
    tokens: 0,
  },
  'a model that is not there is told as such': {
    plays: [answers(404, { error: { message: 'The model x does not exist' } })],
    status: 404,
    code: 'model_not_found',
    tokens: 0,
  },
  'a key that is not accepted is our fault': {
    plays: [answers(401, { error: { message: 'bad key' } })],
    status: 502,
    code: 'upstream_error',
    tokens: 0,
  },
  'a flat error body is read': {
    plays: [answers(400, { object: 'error', message: 'flat', code: 400 })],
    status: 400,
    code: 'invalid_request',
    tokens: 0,
  },
  'an error inside an answer of status 200 is an error': {
    plays: [answers(200, { error: { message: 'out of memory' } })],
    status: 502,
    code: 'upstream_error',
    tokens: 0,
  },
  'what is not JSON is not an answer': {
    plays: [answers(200, 'nonsense')],
    status: 502,
    code: 'upstream_invalid',
    tokens: 0,
  },
  'a busy server is asked again': { plays: [answers(503, {}), says('Hello')], status: 200, tokens: 10, words: 'Hello' },
  'a connection that breaks before the first byte is made again': {
    plays: [resets(), says('Hello')],
    status: 200,
    tokens: 10,
    words: 'Hello',
  },
  'an answer without usage is counted here': {
    plays: [says({ pieces: ['Hello'], usage: null })],
    status: 200,
    tokens: 3,
    words: 'Hello',
  },
}

for (const [title, { plays: script, status, code, tokens, words: expected }] of Object.entries(plainFaults)) {
  test(`plain: ${title}`, async () => {
    plays = [...script]
    const reply = await service.ana.call('POST', service.at('/chats/completions'), { messages: [user('Hi')] })
    assert.equal(reply.status, status, reply.text)
    assert.equal(reply.body.error?.code, code)
    if (expected !== undefined) assert.equal(reply.body.choices[0].message.content, expected)
    const logs = await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)
    assert.equal(logs.length, 1)
    assert.equal(logs[0].status, status === 200 ? 'success' : 'error')
    assert.equal(logs[0].total_tokens, tokens)
    assert.equal(logs[0].error_message, reply.body.error?.message)
  })
}

const streamFaults: Record<string, Fault> = {
  'an error event after the first word ends the stream with that error': {
    plays: [streams(words, { error: { message: 'CUDA error', code: 500 } })],
    status: 200,
    code: 'upstream_error',
    tokens: 2,
    words: 'Hel',
  },
  'a connection cut after the first word is told': {
    plays: [resets(words)],
    status: 200,
    code: 'upstream_error',
    tokens: 2,
    words: 'Hel',
  },
  'an end without a finish reason is no end': {
    plays: [endsAfter(words)],
    status: 200,
    code: 'upstream_error',
    tokens: 2,
    words: 'Hel',
  },
  'what is not JSON in the middle is told': {
    plays: [streams(words, 'oops')],
    status: 200,
    code: 'upstream_invalid',
    tokens: 2,
    words: 'Hel',
  },
  'a refusal before the first word is told as an event': {
    plays: [answers(400, { error: { message: 'no' } })],
    status: 200,
    code: 'invalid_request',
    tokens: 0,
    words: '',
  },
  'an answer in one piece is streamed all the same': {
    plays: [
      answers(200, {
        choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 3 },
      }),
    ],
    status: 200,
    tokens: 10,
    words: 'Hello',
  },
  'a stream without the end mark is whole once its finish reason has come': {
    plays: [endsAfter(words, piece({}, 'stop'), usageChunk())],
    status: 200,
    tokens: 10,
    words: 'Hel',
  },
}

for (const [title, { plays: script, code, tokens, words: expected }] of Object.entries(streamFaults)) {
  test(`streamed: ${title}`, async () => {
    plays = [...script]
    const body = { messages: [user('Hi')], stream: true }
    const reply = await service.ana.call('POST', service.at('/chats/completions'), body)
    const { events, isDone } = readEvents(reply.text)
    assert.equal(wordsIn(events), expected)
    assert.equal(events.at(-1).error?.code, code)
    assert.equal(isDone, code === undefined)
    const logs = await logsOf(service, `?correlation_id=${reply.headers['x-request-id']}`)
    assert.equal(logs.length, 1)
    assert.equal(logs[0].status, code === undefined ? 'success' : 'error')
    assert.equal(logs[0].total_tokens, tokens)
  })
}
