// Ends one model call when its caller leaves or when a stage of it takes too long.
import { Problem } from '../../base/problem.ts'

export class Deadline {
  readonly #caller: AbortSignal
  readonly #total: NodeJS.Timeout
  #stage: NodeJS.Timeout | undefined
  #end: { readonly reason: Error } | undefined
  #controller: AbortController | undefined
  #onEnd: ((reason: Error) => void) | undefined

  constructor(caller: AbortSignal, totalMs: number) {
    this.#caller = caller
    this.#total = setTimeout(this.#expire, totalMs, totalMs, 'complete answer')
    if (caller.aborted) this.#leave()
    else caller.addEventListener('abort', this.#leave, { once: true })
  }

  get isOver(): boolean {
    return this.#end !== undefined
  }

  /** Why it ended; only to be asked once it has. */
  get reason(): Error {
    return this.#end!.reason
  }

  /** For what understands signals only; others are called back, which costs less. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#end) this.#controller.abort(this.#end.reason)
    return this.#controller.signal
  }

  /** Calls back when it ends, at once if it has; a later call takes the place of an earlier one. */
  whenOver(callback: (reason: Error) => void): void {
    this.#onEnd = callback
    if (this.#end) callback(this.#end.reason)
  }

  /** Starts a stage of its own limit, ending the stage before it. */
  stage(limitMs: number, awaited: string): void {
    clearTimeout(this.#stage)
    this.#stage = setTimeout(this.#expire, limitMs, limitMs, awaited)
  }

  endStage(): void {
    clearTimeout(this.#stage)
    this.#stage = undefined
  }

  close(): void {
    clearTimeout(this.#total)
    this.endStage()
    this.#caller.removeEventListener('abort', this.#leave)
  }

  #over(reason: Error): void {
    if (this.#end) return
    this.#end = { reason }
    this.#controller?.abort(reason)
    this.#onEnd?.(reason)
  }

  readonly #leave = (): void => this.#over(this.#caller.reason)

  readonly #expire = (limitMs: number, awaited: string): void =>
    this.#over(new Problem('upstream_timeout', `The model server gave no ${awaited} within ${limitMs / 1000} s`))
}
