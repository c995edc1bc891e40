// How guard models are asked and understood. Each family has its own prompt and its own way to say no.
import type { Message, Reply } from '../../outside/models/engine.ts'
import { type ModelCalls, STAGE_MS_MAX } from '../calls.ts'
import type { Spoken } from '../conversation.ts'

export interface Finding {
  readonly reply: Reply
  /** What the content was flagged for; empty when it is safe, undefined when the verdict cannot be read. */
  readonly labels: readonly string[] | undefined
}

export interface GuardQuestion {
  readonly model: string
  readonly turns: readonly Spoken[]
  readonly reasoning: boolean
  /** The space's own policy, for models that judge by prompt. */
  readonly policy?: string | undefined
}

export type GuardAdapter = (calls: ModelCalls, question: GuardQuestion) => Promise<Finding>

const VERDICT_TOKENS_MAX = 256

/** For guard models that answer in a text format of their own. */
export const textGuard =
  (
    prompt: (turns: readonly Spoken[]) => readonly Message[],
    readLabels: (verdict: string) => readonly string[] | undefined,
  ): GuardAdapter =>
  async ({ engine, signal }, { model, turns }) => {
    const messages = prompt(turns)
    const limits = { max_tokens: VERDICT_TOKENS_MAX, within_ms: STAGE_MS_MAX }
    const request = { model, messages, temperature: 0, ...limits }
    const reply = await engine.ask(request, signal)
    return { reply, labels: readLabels(reply.content) }
  }
