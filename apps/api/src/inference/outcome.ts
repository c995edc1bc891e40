// What a turn came to: watched while its steps pass by, reported exactly once, folded when nobody streams.
import { Problem } from '../base/problem.ts'
import type { ModelRequest, Reply } from '../outside/models/engine.ts'
import { estimatedUsage } from '../outside/models/usage.ts'
import type { Answer, Step } from './answer.ts'
import type { Verdict } from './guard/judge.ts'
import type { Choice } from './router.ts'

export interface Outcome {
  readonly guard?: Verdict
  readonly router?: Choice
  readonly answer?: Answer
  /** What was written before the turn broke off. Its usage is an estimate. */
  readonly partial?: Reply
  /** Why there is no answer, in words that are safe to keep. */
  readonly error?: string
  /** The thrown value behind `error`, when something was thrown. */
  readonly failure?: unknown
}

const LEFT = 'The client left before the answer was complete'
const OURS = 'Something went wrong on our side'

/**
 * Passes the steps on and reports what came of them: success, failure, or a reader that left, even one that left before the
 * first step. The report is made before the end is told, so whoever hears of the end can rely on it.
 */
export function recorded(
  steps: AsyncIterator<Step>,
  report: (outcome: Outcome) => Promise<void>,
): AsyncIterableIterator<Step> {
  const watch = new Watch()
  let isReported = false
  const reportOnce = async (outcome: Outcome): Promise<void> => {
    if (isReported) return
    isReported = true
    await report(outcome)
  }
  return {
    async next() {
      try {
        const next = await steps.next()
        if (next.done) await reportOnce(watch.outcome)
        else watch.see(next.value)
        return next
      } catch (error) {
        await reportOnce(watch.brokenBy(error))
        throw error
      }
    },
    async return() {
      await steps.return?.()
      await reportOnce(watch.left())
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

export async function fold(steps: AsyncIterable<Step>): Promise<Outcome & { answer: Answer }> {
  const watch = new Watch()
  for await (const step of steps) watch.see(step)
  const { outcome } = watch
  if (!outcome.answer) throw new Error('The pipeline ended without an answer')
  return { ...outcome, answer: outcome.answer }
}

class Watch {
  #outcome: Outcome = {}
  #asking: ModelRequest | undefined
  #content = ''
  #reasoning = ''
  #pieces = 0

  get outcome(): Outcome {
    return this.#outcome
  }

  see(step: Step): void {
    if ('delta' in step) {
      this.#pieces++
      if (step.delta.content) this.#content += step.delta.content
      if (step.delta.reasoning_content) this.#reasoning += step.delta.reasoning_content
    } else if ('asking' in step) {
      this.#asking = step.asking
    } else {
      this.#outcome = { ...this.#outcome, ...step }
    }
  }

  /** A server that refused the request cost nothing; one that had begun to answer did. */
  brokenBy(error: unknown): Outcome {
    if (isAbort(error)) return this.left()
    const message = error instanceof Problem ? error.message : OURS
    return { ...this.#outcome, ...(this.#pieces > 0 && this.#soFar()), error: message, failure: error }
  }

  left(): Outcome {
    return this.#outcome.answer ? this.#outcome : { ...this.#outcome, ...this.#soFar(), error: LEFT }
  }

  #soFar(): { partial?: Reply } {
    if (!this.#asking) return {}
    const { model, messages } = this.#asking
    return {
      partial: {
        content: this.#content,
        ...(this.#reasoning !== '' && { reasoning_content: this.#reasoning }),
        finish_reason: 'error',
        usage: estimatedUsage(messages, this.#pieces),
        model,
      },
    }
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError'
