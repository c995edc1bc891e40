// Builds a reply from what an OpenAI-compatible server sends, streamed or in one piece.
import { Problem } from '../../base/problem.ts'
import type { Delta, Logprobs, ModelRequest, Reply, ToolCallDelta, Usage } from './engine.ts'
import { ToolCallJoiner } from './tool-calls.ts'
import { errorInAnswer } from './upstream-errors.ts'
import { estimatedUsage, estimateTokens, readUsage } from './usage.ts'

/** The server gave up on its own work; it says so in a finish reason instead of an error. */
const FAILED_FINISHES = new Set(['error', 'abort'])

interface Spoken {
  readonly content?: unknown
  readonly refusal?: unknown
  readonly reasoning_content?: unknown
  readonly reasoning?: unknown
  readonly tool_calls?: unknown
}

interface Choice {
  readonly index?: number
  readonly delta?: Spoken | null
  readonly message?: Spoken | null
  readonly finish_reason?: unknown
  readonly logprobs?: unknown
}

export class ReplyBuilder {
  readonly #request: ModelRequest
  readonly #tools = new ToolCallJoiner()
  #content = ''
  #reasoning = ''
  #finish: string | undefined
  #usage: Usage | undefined
  #logprobs: Logprobs | undefined
  readonly #weighed: unknown[] = []
  #model: string
  #pieces = 0

  constructor(request: ModelRequest) {
    this.#request = request
    this.#model = request.model
  }

  get isFinished(): boolean {
    return this.#finish !== undefined
  }

  /** Reads one chunk, or the body of an answer in one piece, and gives what it adds. */
  take(text: string): Delta | undefined {
    const value = parse(text)
    const error = errorInAnswer(value)
    if (error) throw error
    const { model, usage, choices } = value
    if (typeof model === 'string' && model !== '') this.#model = model
    if (usage) this.#usage = readUsage(usage) ?? this.#usage
    if (!Array.isArray(choices)) return undefined
    const choice = choices.find((some): some is Choice => isObject(some) && (some['index'] ?? 0) === 0)
    if (!choice) return undefined
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') this.#end(choice.finish_reason)
    const delta = this.#speak(choice.delta ?? choice.message ?? {})
    return isObject(choice.logprobs) ? this.#weigh(delta, choice.logprobs) : delta
  }

  /** Ids for tool calls that the server left without one, to be sent before the end. */
  missingToolCallIds(): readonly ToolCallDelta[] {
    return this.#tools.isEmpty ? [] : this.#tools.nameTheNameless()
  }

  reply(isOnePiece: boolean): Reply {
    if (this.#finish === undefined) {
      if (isOnePiece) throw new Problem('upstream_invalid', 'The model server sent something that is not an answer')
      throw new Problem('upstream_error', 'The model server ended its answer before it was complete')
    }
    const spokenBytes = () => Buffer.byteLength(this.#content) + Buffer.byteLength(this.#reasoning)
    const counted = () => (isOnePiece ? estimateTokens(spokenBytes()) : this.#pieces)
    return {
      content: this.#content,
      ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
      ...(!this.#tools.isEmpty && { tool_calls: this.#tools.joined() }),
      ...(this.#logprobs && { logprobs: this.#logprobs }),
      finish_reason: this.#finish,
      usage: this.#usage ?? estimatedUsage(this.#request.messages, counted()),
      model: this.#model,
    }
  }

  #speak(spoken: Spoken): Delta | undefined {
    // A refusal has a field of its own at some servers; to whoever reads, it is the answer.
    const content = wordsIn(spoken.content) ?? textIn(spoken.refusal)
    // vLLM and Ollama say reasoning, SGLang and llama.cpp reasoning_content.
    const reasoning = textIn(spoken.reasoning_content) ?? textIn(spoken.reasoning)
    const calls = spoken.tool_calls
    const tools = Array.isArray(calls) && calls.length > 0 ? this.#tools.take(calls) : undefined
    if (content === undefined && reasoning === undefined && tools === undefined) return undefined
    this.#pieces++
    if (content !== undefined) this.#content += content
    if (reasoning !== undefined) this.#reasoning += reasoning
    if (tools === undefined && reasoning === undefined) return { content: content! }
    return {
      ...(content !== undefined && { content }),
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(tools !== undefined && { tool_calls: tools }),
    }
  }

  #weigh(delta: Delta | undefined, logprobs: Logprobs): Delta {
    this.#logprobs = { ...logprobs, content: this.#weighed }
    for (const token of logprobs.content ?? []) this.#weighed.push(token)
    return { ...delta, logprobs }
  }

  #end(reason: string): void {
    if (FAILED_FINISHES.has(reason)) throw new Problem('upstream_error', 'The model server gave up on the answer')
    this.#finish = reason
  }
}

/** A few servers answer in parts, as requests may ask. */
function wordsIn(content: unknown): string | undefined {
  if (!Array.isArray(content)) return textIn(content)
  return textIn(content.map((part) => (isObject(part) && textIn(part['text'])) || '').join(''))
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function parse(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Problem('upstream_invalid', 'The model server sent something that is not JSON', { cause })
  }
  if (isObject(value)) return value
  throw new Problem('upstream_invalid', 'The model server sent something that is not an answer')
}
