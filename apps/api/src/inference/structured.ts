// Asks a model for an answer that fits a schema, as firmly as its server can be bound to one (docs/contract.md, Inference).
import type { Static, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { Problem } from '../base/problem.ts'
import type { Message, ModelRequest, Reply, Usage } from '../outside/models/engine.ts'
import { UpstreamRefusal } from '../outside/models/upstream-errors.ts'
import { addUsage } from '../outside/models/usage.ts'
import { type ModelCalls, secondsSince } from './calls.ts'
import type { Format } from './formats.ts'
import { objectsIn } from './json-answer.ts'
import { withSystem } from './system-message.ts'

export interface StructuredCall<T extends TSchema> {
  readonly name: string
  /** Flat, every field required: that is what all servers can be bound to. */
  readonly schema: T
  readonly request: Omit<ModelRequest, 'response_format'>
}

/** Either a value that fits the schema or the reason why there is none. */
export interface Structured<T> {
  readonly value?: T
  readonly error?: string
  readonly reply: Reply
  /** Of all the calls it took. */
  readonly usage: Usage
  readonly elapsed_time_in_seconds: number
}

interface Attempt<T> {
  readonly reply: Reply
  readonly value?: T
  readonly faults: string
}

const MAX_TOKENS = 2_048
const REPAIRED_CHARACTERS_MAX = 8_000
/** How servers refuse a response format they do not know. */
const FORMAT_REFUSALS = new Set([400, 422, 501])

/** Throws only when the first call fails. Output that stays unusable becomes the error of the result. */
export async function askForJson<T extends TSchema>(
  calls: ModelCalls,
  call: StructuredCall<T>,
): Promise<Structured<Static<T>>> {
  const startedAt = calls.now()
  const { messages, max_tokens: maxTokens = MAX_TOKENS } = call.request
  let latest = await attempt(calls, call, messages, maxTokens)
  let usage = latest.reply.usage
  let failure: string | undefined
  const again = async (next: readonly Message[], tokens: number) => {
    try {
      latest = await attempt(calls, call, next, tokens)
      usage = addUsage(usage, latest.reply.usage)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      failure = `asking again failed: ${error.message}`
    }
  }
  if (latest.value === undefined && isCutShort(latest)) await again(messages, maxTokens * 2)
  if (latest.value === undefined && !isCutShort(latest) && !failure) await again(repair(messages, latest), maxTokens)
  const { value, reply, faults } = latest
  const outcome = value === undefined ? { error: explain(isCutShort(latest), faults, failure) } : { value }
  return { ...outcome, reply, usage, elapsed_time_in_seconds: secondsSince(calls, startedAt) }
}

async function attempt<T extends TSchema>(
  calls: ModelCalls,
  call: StructuredCall<T>,
  messages: readonly Message[],
  maxTokens: number,
): Promise<Attempt<Static<T>>> {
  const { engine, signal, formats } = calls
  const { model } = call.request
  let refusal: unknown
  for (const format of formats.worthTrying(engine.upstream, model, calls.now())) {
    try {
      const reply = await engine.ask(requestIn(format, call, messages, maxTokens), signal)
      // Remembered only now: a request that is refused in every form was at fault itself.
      if (refusal) formats.remember(engine.upstream, model, format, calls.now())
      return { reply, ...read(call.schema, reply.content) }
    } catch (error) {
      if (!isFormatRefusal(error)) throw error
      refusal ??= error
    }
  }
  throw refusal
}

function requestIn<T extends TSchema>(
  format: Format,
  { name, schema, request }: StructuredCall<T>,
  messages: readonly Message[],
  maxTokens: number,
): ModelRequest {
  const common = { ...request, max_tokens: maxTokens }
  if (format === 'json_schema') {
    return { ...common, messages, response_format: { type: format, json_schema: { name, schema, strict: true } } }
  }
  const rule = `Answer with one JSON object and nothing else. It must fit this JSON Schema:\n${JSON.stringify(schema)}`
  const told = { ...common, messages: withSystem(messages, rule) }
  // A server may refuse the field itself, whatever it says.
  return format === 'text' ? told : { ...told, response_format: { type: format } }
}

function read<T extends TSchema>(schema: T, text: string): { value?: Static<T>; faults: string } {
  let faults: string | undefined
  for (const found of objectsIn(text)) {
    const value = Value.Clean(schema, found)
    if (Value.Check(schema, value)) return { value, faults: '' }
    faults ??= Value.Errors(schema, value)
      .map(({ instancePath, message }) => `${instancePath || 'the object'} ${message}`)
      .join('; ')
  }
  return { faults: faults ?? 'there is no JSON object in it' }
}

const repair = (messages: readonly Message[], { reply, faults }: Attempt<unknown>): Message[] => [
  ...messages,
  { role: 'assistant', content: reply.content.slice(0, REPAIRED_CHARACTERS_MAX) || '(nothing)' },
  { role: 'user', content: `That answer cannot be used: ${faults}. Give the whole answer again as one JSON object.` },
]

const isCutShort = ({ reply }: Attempt<unknown>): boolean => reply.finish_reason === 'length'

function explain(isTruncated: boolean, faults: string, failure: string | undefined): string {
  const found = isTruncated ? 'it was cut off at its limit of tokens' : faults
  return `The model gave no usable answer: ${found}${failure ? `; ${failure}` : ''}`
}

function isFormatRefusal(error: unknown): boolean {
  if (!(error instanceof Problem)) return false
  return (
    error.param === 'response_format' ||
    (error.cause instanceof UpstreamRefusal && FORMAT_REFUSALS.has(error.cause.status))
  )
}
