// Token counts: read from the model server where it gives them, estimated where it does not.
import { type Message, type ModelRequest, textOf, type Usage } from './engine.ts'

export const NO_USAGE: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

const BYTES_PER_TOKEN = 4
const TOKENS_MAX = 100_000_000
/** Set aside from a budget for an answer whose length the request leaves open. */
const ANSWER_TOKENS_EXPECTED = 1_000

export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN)

export function estimatePromptTokens(messages: readonly Message[]): number {
  let bytes = 0
  for (const message of messages) {
    bytes += Buffer.byteLength(textOf(message))
    for (const call of message.tool_calls ?? []) bytes += Buffer.byteLength(call.function.arguments)
  }
  return estimateTokens(bytes)
}

/** What a call is likely to take, told before it begins. */
export const expectedTokens = ({
  messages,
  max_tokens,
  max_completion_tokens,
}: Pick<ModelRequest, 'messages' | 'max_tokens' | 'max_completion_tokens'>): number =>
  estimatePromptTokens(messages) + (max_tokens ?? max_completion_tokens ?? ANSWER_TOKENS_EXPECTED)

export function estimatedUsage(messages: readonly Message[], completionTokens: number): Usage {
  const promptTokens = estimatePromptTokens(messages)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    estimated: true,
  }
}

export function readUsage(value: unknown): Usage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { prompt_tokens, completion_tokens = 0 } = value as Record<string, unknown>
  if (!isCount(prompt_tokens) || !isCount(completion_tokens)) return undefined
  const total_tokens = prompt_tokens + completion_tokens
  // More than any model writes is no count, and would not fit where counts are kept.
  return total_tokens <= TOKENS_MAX ? { prompt_tokens, completion_tokens, total_tokens } : undefined
}

export const addUsage = (a: Usage, b: Usage): Usage => ({
  prompt_tokens: a.prompt_tokens + b.prompt_tokens,
  completion_tokens: a.completion_tokens + b.completion_tokens,
  total_tokens: a.total_tokens + b.total_tokens,
  ...((a.estimated || b.estimated) && { estimated: true as const }),
})

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0
