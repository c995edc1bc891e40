// What a turn came to: watched while its steps pass by, and reported exactly once.
import { Problem } from '../base/problem.ts'
import type { ModelRequest, Reply, Usage } from '../outside/models/engine.ts'
import { estimatedUsage } from '../outside/models/usage.ts'
import type { Answer, Step, Tell } from './answer.ts'
import type { Verdict } from './guard/judge.ts'
import type { Choice } from './router.ts'

export interface Outcome {
  readonly guard?: Verdict | undefined
  readonly router?: Choice | undefined
  readonly answer?: Answer | undefined
  /** What was written before the turn broke off. Its usage is an estimate. */
  readonly partial?: Reply
  /** Of stages that came to nothing. */
  readonly spent?: Usage | undefined
  /** Why there is no answer, in words that are safe to keep. */
  readonly error?: string
  /** The thrown value behind `error`, when something was thrown. */
  readonly failure?: unknown
}

const LEFT = 'The client left before the answer was complete'
const OURS = 'Something went wrong on our side'

/**
 * Runs a turn, passes its steps on, and reports what came of them: success, failure, or a caller that left. The report is
 * made before the end is told, so whoever hears of the end can rely on it.
 */
export async function recorded(
  /** Ends with an answer or fails. */
  run: (tell: Tell) => Promise<void>,
  report: (outcome: Outcome) => Promise<void>,
  onward?: Tell,
): Promise<Outcome & { answer: Answer }> {
  const watch = new Watch()
  try {
    await run((step) => {
      watch.see(step)
      return onward?.(step)
    })
  } catch (error) {
    await report(watch.brokenBy(error))
    throw error
  }
  const { outcome } = watch
  await report(outcome)
  if (!outcome.answer) throw new Error('The turn ended without an answer')
  return { ...outcome, answer: outcome.answer }
}

class Watch {
  #guard: Verdict | undefined
  #router: Choice | undefined
  #answer: Answer | undefined
  #asking: ModelRequest | undefined
  #spent: Usage | undefined
  #echo = ''
  #content = ''
  #reasoning = ''
  #pieces = 0

  get outcome(): Outcome {
    return { guard: this.#guard, router: this.#router, answer: this.#answer, spent: this.#spent }
  }

  see(step: Step): void {
    if ('delta' in step) {
      this.#pieces++
      if (step.delta.content) this.#content += step.delta.content
      if (step.delta.reasoning_content) this.#reasoning += step.delta.reasoning_content
    } else if ('asking' in step) {
      this.#asking = step.asking
    } else if ('answer' in step) {
      this.#answer = step.answer
    } else if ('guard' in step) {
      this.#guard = step.guard
    } else if ('router' in step) {
      this.#router = step.router
    } else if ('echo' in step) {
      this.#echo = step.echo
    } else {
      this.#spent = step.spent
    }
  }

  /** A server that refused the request cost nothing; one that had begun to answer did. */
  brokenBy(error: unknown): Outcome {
    if (isAbort(error)) return this.left()
    const message = error instanceof Problem ? error.message : OURS
    return { ...this.outcome, ...(this.#pieces > 0 && this.#soFar()), error: message, failure: error }
  }

  left(): Outcome {
    return this.#answer ? this.outcome : { ...this.outcome, ...this.#soFar(), error: LEFT }
  }

  #soFar(): { partial?: Reply } {
    if (!this.#asking) return {}
    const { model, messages } = this.#asking
    return {
      partial: {
        // Alone, the echo is no answer.
        content: this.#content === '' ? '' : this.#echo + this.#content,
        ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
        finish_reason: 'error',
        usage: estimatedUsage(messages, this.#pieces),
        model,
      },
    }
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'
