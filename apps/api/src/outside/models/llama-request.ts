// Reads from a request what the embedded model must be told: grammar, tools, sampling, and the room left for an answer.
import type { ChatHistoryItem, ChatModelFunctions, ChatWrapper, Llama, LlamaGrammar, LlamaModel } from 'node-llama-cpp'
import { Problem } from '../../base/problem.ts'
import { type Message, type ModelRequest, type ResponseFormat, type Tool, textOf } from './engine.ts'
import { toGrammarSchema } from './llama-schema.ts'

const TEMPERATURE = 0.8
const FUNCTION_NAME = /^[A-Za-z0-9_-]{1,64}$/
/** No tokenizer packs more on average. A longer prompt is refused unread, since counting it would hold up the process. */
const BYTES_PER_TOKEN_MAX = 12

export async function grammarFor(llama: Llama, format: ResponseFormat | undefined): Promise<LlamaGrammar | undefined> {
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object' || !format.json_schema.schema) return llama.getGrammarFor('json')
  const schema = toGrammarSchema(format.json_schema.schema, 'response_format')
  try {
    return await llama.createGrammarForJsonSchema(schema)
  } catch (cause) {
    throw new Problem('invalid_request', 'The embedded model cannot follow this JSON schema', {
      cause,
      param: 'response_format',
    })
  }
}

export function functionsOf({ tools, parameters }: ModelRequest): ChatModelFunctions | undefined {
  const choice = parameters?.['tool_choice'] ?? 'auto'
  if (choice !== 'auto' && choice !== 'none')
    throw refused('The embedded model cannot be made to call a tool: tool_choice may be auto or none', 'tool_choice')
  if (!tools || tools.length === 0 || choice === 'none') return undefined
  return Object.fromEntries(tools.map(toFunction))
}

function toFunction({
  function: { name, description, parameters: schema },
}: Tool): [string, ChatModelFunctions[string]] {
  if (!FUNCTION_NAME.test(name)) {
    throw refused(`The name of a tool is 1 to 64 letters, digits, _ and -, not ${JSON.stringify(name)}`, 'tools')
  }
  const params = schema && toGrammarSchema(schema, 'tools')
  return [name, { ...(description !== undefined && { description }), ...(params && { params }) }]
}

export function samplingOf({ temperature = TEMPERATURE, top_p, parameters = {} }: ModelRequest) {
  const seed = parameters['seed'] ?? undefined
  if (seed !== undefined && !Number.isSafeInteger(seed)) throw refused('seed must be an integer', 'seed')
  if (parameters['logprobs']) throw refused('The embedded model tells no logprobs', 'logprobs')
  const stops = stopsIn(parameters['stop'])
  return {
    temperature,
    ...(top_p !== undefined && { topP: top_p }),
    ...(seed !== undefined && { seed: seed as number }),
    ...(stops.length > 0 && { customStopTriggers: stops }),
  }
}

function stopsIn(stop: unknown): string[] {
  const stops: unknown[] = Array.isArray(stop) ? stop : [stop ?? '']
  if (!stops.every((text) => typeof text === 'string')) throw refused('stop must be a text or several', 'stop')
  return stops.filter((text) => text !== '')
}

const refused = (message: string, param: string): Problem => new Problem('invalid_request', message, { param })

/** The binding would drop the oldest messages to make room; the caller is told instead. */
export function roomTokens(
  history: readonly ChatHistoryItem[],
  functions: ChatModelFunctions | undefined,
  messages: readonly Message[],
  { model, wrapper, contextTokens }: { model: LlamaModel; wrapper: ChatWrapper; contextTokens: number },
): number {
  const bytes = messages.reduce((sum, message) => sum + Buffer.byteLength(textOf(message)), 0)
  if (bytes > contextTokens * BYTES_PER_TOKEN_MAX) throw tooLong(contextTokens)
  const state = wrapper.generateContextState({
    chatHistory: history,
    ...(functions && { availableFunctions: functions }),
  })
  const room = contextTokens - state.contextText.tokenize(model.tokenizer).length - 1
  if (room < 1) throw tooLong(contextTokens)
  return room
}

const tooLong = (contextTokens: number): Problem =>
  new Problem('invalid_request', `The messages do not fit into the ${contextTokens} tokens of the embedded model`, {
    param: 'messages',
  })
