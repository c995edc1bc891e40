// The adapter to any OpenAI-compatible server: vLLM, SGLang, the llama.cpp server, Ollama, Ray Serve.
import { Problem } from '../../base/problem.ts'
import type { AnswerBody } from './answer-body.ts'
import { Connection, type Server } from './connection.ts'
import { Deadline } from './deadline.ts'
import type { Engine, ModelCard, ModelRequest, Part } from './engine.ts'
import { readModelList } from './model-list.ts'
import { ReplyBuilder } from './reply-builder.ts'
import { SseParser } from './sse.ts'
import { defaultTimings, type Timings } from './timings.ts'

const END_MARK = '[DONE]'

export interface OpenAiServerOptions extends Server {
  readonly timings?: Partial<Timings>
  readonly random?: () => number
}

export function openAiServer(options: OpenAiServerOptions): Engine {
  const timings = { ...defaultTimings, ...options.timings }
  const connection = new Connection(options, timings, options.random ?? Math.random)
  return {
    upstream: connection.url,
    stream: (request, signal) => stream(connection, timings, request, signal),
    models: (signal) => listModels(connection, timings, signal),
  }
}

async function* stream(
  connection: Connection,
  timings: Timings,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  const deadline = new Deadline(signal, timings.totalMs)
  const builder = new ReplyBuilder(request)
  let body: AnswerBody | undefined
  let isWhole = false
  try {
    // An answer in one piece has no first token to wait for: only the limit of the whole call holds.
    const waitForToken = () => void (request.deltas && deadline.stage(timings.firstTokenMs, 'first token'))
    const answer = await connection.open('POST', '/chat/completions', toBody(request), deadline, waitForToken)
    body = answer.body
    if (answer.isEventStream) yield* readEvents(body, builder, deadline, timings)
    else {
      const delta = builder.take(await body.text())
      if (delta && request.deltas) yield { delta }
    }
    const named = builder.missingToolCallIds()
    if (named.length > 0 && answer.isEventStream) yield { delta: { tool_calls: named } }
    const reply = builder.reply(!answer.isEventStream)
    isWhole = true
    yield { done: reply }
  } catch (error) {
    throw explain(error, deadline)
  } finally {
    if (body) body.release(isWhole, deadline)
    else deadline.close()
  }
}

async function* readEvents(
  body: AnswerBody,
  builder: ReplyBuilder,
  deadline: Deadline,
  timings: Timings,
): AsyncGenerator<Part> {
  const parser = new SseParser()
  let hasSpoken = false
  for (let chunk = await body.next(); chunk; chunk = await nextChunk(body, builder)) {
    for (const event of parser.push(chunk)) {
      if (event === END_MARK) return
      const delta = builder.take(event)
      if (delta) yield { delta }
      hasSpoken ||= delta !== undefined || builder.isFinished
    }
    if (hasSpoken) deadline.stage(builder.isFinished ? timings.tailMs : timings.idleMs, 'further token')
  }
  if (builder.isFinished) return
  for (const event of parser.end()) {
    if (event === END_MARK) return
    const delta = builder.take(event)
    if (delta) yield { delta }
  }
}

/** Once the finish reason has come the answer is whole: a line that drops after it takes only the usage along. */
async function nextChunk(body: AnswerBody, builder: ReplyBuilder): Promise<Buffer | undefined> {
  try {
    return await body.next()
  } catch (error) {
    if (builder.isFinished) return undefined
    throw error
  }
}

function toBody({ deltas, parameters, ...named }: ModelRequest): string {
  const streaming = deltas ? { stream: true, stream_options: { include_usage: true } } : { stream: false }
  return JSON.stringify({ ...parameters, stream_options: undefined, ...named, ...streaming })
}

function explain(error: unknown, deadline: Deadline): unknown {
  if (deadline.isOver) return deadline.reason
  if (error instanceof Problem) return error
  return new Problem('upstream_error', 'The connection to the model server broke before the answer was complete', {
    cause: error,
  })
}

async function listModels(connection: Connection, timings: Timings, signal: AbortSignal): Promise<ModelCard[]> {
  const deadline = new Deadline(signal, timings.modelsMs)
  let body: AnswerBody | undefined
  try {
    body = (await connection.open('GET', '/models', null, deadline, () => {})).body
    return readModelList(await body.text())
  } catch (error) {
    throw explain(error, deadline)
  } finally {
    if (body) body.release(false, deadline)
    else deadline.close()
  }
}
