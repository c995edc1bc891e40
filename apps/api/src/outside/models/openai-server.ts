// The adapter to any OpenAI-compatible server: vLLM, SGLang, the llama.cpp server, Ollama, Ray Serve.
import { Problem } from '../../base/problem.ts'
import { Connection, type Server } from './connection.ts'
import { Deadline } from './deadline.ts'
import type { Engine, ModelCard, ModelRequest, OnDelta, Reply } from './engine.ts'
import type { Exchange } from './exchange.ts'
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
    ask: (request, signal, onDelta) => ask(connection, timings, request, signal, onDelta),
    models: (signal) => listModels(connection, timings, signal),
  }
}

async function ask(
  connection: Connection,
  timings: Timings,
  request: ModelRequest,
  signal: AbortSignal,
  onDelta: OnDelta | undefined,
): Promise<Reply> {
  const deadline = new Deadline(signal, Math.min(timings.totalMs, request.within_ms ?? Infinity))
  const builder = new ReplyBuilder(request)
  let answer: Exchange | undefined
  let isWhole = false
  try {
    // An answer in one piece has no first token to wait for: only the limit of the whole call holds.
    const waitForToken = () => void (onDelta && deadline.stage(timings.firstTokenMs, 'first token'))
    const body = toBody(request, onDelta !== undefined)
    answer = await connection.open('POST', '/chat/completions', body, deadline, waitForToken)
    const isEventStream = answer.isEventStream
    if (isEventStream) await readEvents(answer, builder, deadline, timings, onDelta)
    else {
      const delta = builder.take(await answer.text())
      if (delta && onDelta) await onDelta(delta)
    }
    const named = builder.missingToolCallIds()
    if (named.length > 0) await onDelta?.({ tool_calls: named })
    const reply = builder.reply(!isEventStream)
    isWhole = true
    return reply
  } catch (error) {
    throw explain(error, deadline)
  } finally {
    if (answer) answer.release(isWhole)
    else deadline.close()
  }
}

async function readEvents(
  answer: Exchange,
  builder: ReplyBuilder,
  deadline: Deadline,
  timings: Timings,
  onDelta: OnDelta | undefined,
): Promise<void> {
  const parser = new SseParser()
  let hasSpoken = false
  const take = (event: string): void | Promise<void> => {
    const delta = builder.take(event)
    hasSpoken ||= delta !== undefined || builder.isFinished
    const held = delta && onDelta?.(delta)
    // The reader is slow, not the server.
    if (held) deadline.endStage()
    return held
  }
  for (let chunk = await answer.next(); chunk; chunk = await nextChunk(answer, builder)) {
    for (const event of parser.push(chunk)) {
      if (event === END_MARK) return
      const held = take(event)
      if (held) await held
    }
    if (hasSpoken) deadline.stage(builder.isFinished ? timings.tailMs : timings.idleMs, 'further token')
  }
  if (builder.isFinished) return
  for (const event of parser.end()) {
    if (event === END_MARK) return
    await take(event)
  }
}

/** Once the finish reason has come the answer is whole: a line that drops after it takes only the usage along. */
async function nextChunk(answer: Exchange, builder: ReplyBuilder): Promise<Buffer | undefined> {
  try {
    return await answer.next()
  } catch (error) {
    if (builder.isFinished) return undefined
    throw error
  }
}

/** What is not given is not sent. */
function toBody(request: ModelRequest, isReadAlong: boolean): string {
  const { parameters, within_ms: _, ...rest } = request
  const named = { ...rest, stream: isReadAlong }
  const stream_options = isReadAlong ? { include_usage: true } : undefined
  return JSON.stringify(parameters ? { ...parameters, ...named, stream_options } : { ...named, stream_options })
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
  let answer: Exchange | undefined
  try {
    answer = await connection.open('GET', '/models', null, deadline, () => {})
    return readModelList(await answer.text())
  } catch (error) {
    throw explain(error, deadline)
  } finally {
    if (answer) answer.release(false)
    else deadline.close()
  }
}
