// The guard stage (docs/contract.md, Inference): decides whether the conversation may go on to router and answer.
import { newId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Message, Usage } from '../../outside/models/engine.ts'
import { type MeteredCalls, secondsSince } from '../calls.ts'
import { recentTurns } from '../conversation.ts'
import type { Finding, GuardAdapter } from './adapter.ts'
import { llamaGuard } from './llama-guard.ts'
import { policyPrompt } from './policy-prompt.ts'
import { qwen3Guard } from './qwen3-guard.ts'
import { shieldGemma } from './shield-gemma.ts'

export const GUARD_STYLES = ['llama-guard', 'qwen3-guard', 'shield-gemma', 'policy'] as const
export type GuardStyle = (typeof GUARD_STYLES)[number]

export interface GuardSettings {
  readonly model: string
  /** How to ask; told from the model's name when absent. */
  readonly style?: GuardStyle | undefined
  /** Go on when the guard cannot be asked. The verdict then says skipped. */
  readonly failOpen?: boolean | undefined
  /** Rules in the space's own words, for models that are told a policy. */
  readonly policy?: string | undefined
  /** Show how the guard came to its verdict. */
  readonly reasoning?: boolean | undefined
}

export interface Verdict {
  readonly id: string
  readonly status: 'passed' | 'flagged' | 'skipped'
  /** `safe`, `skipped`, or the labels it was flagged for. */
  readonly category: string
  readonly content: string
  readonly reasoning_content?: string
  readonly finish_reason: string
  readonly usage: Usage
  readonly elapsed_time_in_seconds: number
}

const ADAPTERS: Readonly<Record<GuardStyle, GuardAdapter>> = {
  'llama-guard': llamaGuard,
  'qwen3-guard': qwen3Guard,
  'shield-gemma': shieldGemma,
  policy: policyPrompt,
}

export function styleOf(model: string): GuardStyle {
  if (/llama-?\s?guard/i.test(model)) return 'llama-guard'
  if (/qwen-?3-?guard/i.test(model)) return 'qwen3-guard'
  return /shield-?gemma/i.test(model) ? 'shield-gemma' : 'policy'
}

export async function judge(
  calls: MeteredCalls,
  settings: GuardSettings,
  messages: readonly Message[],
): Promise<Verdict> {
  const startedAt = calls.now()
  const { model, style = styleOf(model), reasoning = false, policy } = settings
  try {
    const finding = await ADAPTERS[style](calls, { model, turns: recentTurns(messages), reasoning, policy })
    return toVerdict(finding, reasoning, secondsSince(calls, startedAt))
  } catch (error) {
    // Whoever left gets no verdict; only what went wrong at the guard's side may be skipped.
    if (calls.signal.aborted || !(error instanceof Problem)) throw error
    if (!settings.failOpen) throw unavailable(error)
    return skipped(error, calls.engine.used, secondsSince(calls, startedAt))
  }
}

function toVerdict({ reply, labels }: Finding, reasoning: boolean, elapsedSeconds: number): Verdict {
  if (!labels) throw new Problem('guard_unavailable', 'The guard gave a verdict that cannot be read')
  return {
    id: newId(),
    status: labels.length === 0 ? 'passed' : 'flagged',
    category: labels.length === 0 ? 'safe' : labels.join(', '),
    content: reply.content,
    ...(reasoning && reply.reasoning_content !== undefined && { reasoning_content: reply.reasoning_content }),
    finish_reason: reply.finish_reason,
    usage: reply.usage,
    elapsed_time_in_seconds: elapsedSeconds,
  }
}

const skipped = (error: Problem, usage: Usage, elapsedSeconds: number): Verdict => ({
  id: newId(),
  status: 'skipped',
  category: 'skipped',
  content: error.message,
  finish_reason: 'error',
  usage,
  elapsed_time_in_seconds: elapsedSeconds,
})

function unavailable(error: Problem): Problem {
  if (error.code === 'guard_unavailable') return error
  const { retryAfterSeconds } = error
  return new Problem('guard_unavailable', `The guard cannot be asked: ${error.message}`, {
    cause: error,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}
