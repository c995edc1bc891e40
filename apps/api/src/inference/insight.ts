// Insights (docs/contract.md 2.17): what can be said about a client, and what to do about it, as one structured answer.
import { type Static, Type } from 'typebox'
import type { Usage } from '../outside/models/engine.ts'
import type { Structured, StructuredCall } from './structured.ts'

export interface InsightInput {
  readonly model: string
  /** What could be done, in the words of the caller. */
  readonly actions: readonly string[]
  /** What is known about the client. */
  readonly client: string
  readonly echo?: boolean | undefined
  readonly max_tokens?: number | undefined
  readonly temperature?: number | undefined
  readonly top_p?: number | undefined
}

const text = Type.String()
const InsightAnswer = Type.Object(
  {
    insight: text,
    type: text,
    timeliness: text,
    actions: text,
    argument_thinking: text,
    argument: text,
    argument_content: text,
    best_channel: text,
    best_time: text,
  },
  { additionalProperties: false },
)
type InsightAnswer = Static<typeof InsightAnswer>

/** Told in the prompt: a grammar gives a model the names of the fields, not their meaning. */
const MEANINGS: Readonly<Record<keyof InsightAnswer, string>> = {
  insight: 'what matters about this client now, in one or two sentences',
  type: 'the kind of insight, in one to three words',
  timeliness: 'how urgent it is, and why',
  actions: 'the actions to take, chosen from the given ones, the best first',
  argument_thinking: 'why these actions suit this client',
  argument: 'the argument that will convince the client, in one sentence',
  argument_content: 'a short message to the client that makes the argument',
  best_channel: 'where to reach the client',
  best_time: 'when to reach the client',
}

export interface InsightResult extends Partial<InsightAnswer> {
  readonly id: string
  readonly thinking?: string
  readonly error?: string
  readonly finish_reason: string
  readonly usage: Usage
  readonly elapsed_time_in_seconds: number
}

const BRIEF = [
  'You advise people who look after clients. From what is known about a client you find the one insight that matters now and',
  'the best of the given actions. Use only what you are told; where something is not known, say so instead of inventing it.',
].join(' ')

export function insightCall({ actions, client, echo: _, ...rest }: InsightInput): StructuredCall<typeof InsightAnswer> {
  const list = actions.length > 0 ? actions.map((action) => `- ${action}`).join('\n') : '(none given; suggest your own)'
  const fields = Object.entries(MEANINGS)
    .map(([name, meaning]) => `- ${name}: ${meaning}`)
    .join('\n')
  const content = `<client>\n${client}\n</client>\n\n<actions>\n${list}\n</actions>\n\nAnswer with these fields:\n${fields}`
  const messages = [
    { role: 'system', content: BRIEF },
    { role: 'user', content },
  ]
  return { name: 'insight', schema: InsightAnswer, request: { ...rest, messages } }
}

export function toInsight(id: string, { echo, client }: InsightInput, asked: Structured<InsightAnswer>): InsightResult {
  const { value, error, reply, usage, elapsed_time_in_seconds } = asked
  return {
    id,
    ...value,
    ...(value && echo && { insight: client + value.insight }),
    ...(reply.reasoning_content !== undefined && { thinking: reply.reasoning_content }),
    ...(error !== undefined && { error }),
    finish_reason: reply.finish_reason,
    usage,
    elapsed_time_in_seconds,
  }
}
