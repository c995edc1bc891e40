// One turn of a conversation: guard, then router, then the answer, each step told as it happens. Pure of HTTP and of SQL.
import type { Delta, Message, ModelRequest, Reply, Usage } from '../outside/models/engine.ts'
import { textOf } from '../outside/models/engine.ts'
import { NO_USAGE } from '../outside/models/usage.ts'
import { type MeteredCalls, type ModelCalls, secondsSince, withMeter } from './calls.ts'
import { withExpert } from './expert.ts'
import { type GuardSettings, judge, type Verdict } from './guard/judge.ts'
import { type Choice, choose, type RouterSettings } from './router.ts'

export interface Turn {
  readonly request: ModelRequest
  /** Somebody reads along. */
  readonly deltas: boolean
  readonly guard?: GuardSettings | undefined
  readonly router?: RouterSettings | undefined
  /** Put the last message of the user before the answer. */
  readonly echo?: boolean | undefined
}

export type Answer = Reply & { readonly elapsed_time_in_seconds: number }

/**
 * `asking` marks the moment from which the answer costs tokens. `echo` goes before it and is nobody's work. `spent` is what a
 * stage took that came to nothing.
 */
export type Step =
  | { readonly guard: Verdict }
  | { readonly router: Choice }
  | { readonly asking: ModelRequest }
  | { readonly echo: string }
  | { readonly delta: Delta }
  | { readonly answer: Answer }
  | { readonly spent: Usage }

const REFUSAL = 'I cannot help with that.'

/** Told each step as it happens. A promise holds the next one back until it is settled. */
export type Tell = (step: Step) => void | Promise<void>

/** Streaming forwards the steps, the plain answer waits for the last one, the log watches them go by. */
export async function answer(calls: ModelCalls, turn: Turn, tell: Tell): Promise<void> {
  let { request } = turn
  if (turn.guard) {
    const { guard: settings } = turn
    const guard = await stage(calls, tell, (own) => judge(own, settings, request.messages))
    await tell({ guard })
    if (guard.status === 'flagged') {
      await tell({ delta: { content: REFUSAL } })
      await tell({ answer: refusal(request.model) })
      return
    }
  }
  if (turn.router) {
    const { router: settings } = turn
    const routed = await stage(calls, tell, (own) => choose(own, settings, request.messages))
    if (routed) await tell({ router: routed.choice })
    if (routed?.expert) request = withExpert(request, routed.expert)
  }
  void tell({ asking: request })
  const startedAt = calls.now()
  const echo = turn.echo ? lastOfUser(turn.request.messages) : ''
  if (echo !== '') await tell({ echo })
  const reply = await calls.engine.ask(request, calls.signal, turn.deltas ? (delta) => tell({ delta }) : undefined)
  const content = echo + reply.content
  await tell({ answer: { ...reply, content, elapsed_time_in_seconds: secondsSince(calls, startedAt) } })
}

/** What was used is told also of a stage that fails, or that its caller does not wait for. */
async function stage<T>(calls: ModelCalls, tell: Tell, run: (calls: MeteredCalls) => Promise<T>): Promise<T> {
  const own = withMeter(calls)
  try {
    return await run(own)
  } catch (error) {
    void tell({ spent: own.engine.used })
    throw error
  }
}

const refusal = (model: string): Answer => ({
  content: REFUSAL,
  finish_reason: 'content_filter',
  usage: NO_USAGE,
  model,
  elapsed_time_in_seconds: 0,
})

function lastOfUser(messages: readonly Message[]): string {
  const message = messages.findLast(({ role }) => role === 'user')
  return message ? textOf(message) : ''
}
