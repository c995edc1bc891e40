// Opens a request to a model server: sends it, waits for the first byte, and tries again while none has come.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { Problem } from '../../base/problem.ts'
import type { Secret } from '../../base/secret.ts'
import type { Deadline } from './deadline.ts'
import { Exchange } from './exchange.ts'
import { isRetryableStatus, networkFailure, readRetryAfter, retryDelayMs } from './retry.ts'
import type { Timings } from './timings.ts'
import { refusalProblem } from './upstream-errors.ts'

export interface Server {
  readonly baseUrl: string
  readonly apiKey?: Secret | undefined
  /** Pins addresses and keeps the egress rules; made where those are known. */
  readonly dispatcher: Dispatcher
}

interface Failure {
  readonly problem: Problem
  readonly kind: 'status' | 'connect' | 'reset' | 'final'
  readonly retryAfterSeconds?: number | undefined
}

const REFUSAL_BYTES_MAX = 64 * 1024

export class Connection {
  readonly #dispatcher: Dispatcher
  readonly #timings: Timings
  readonly #random: () => number
  readonly #origin: string
  readonly #basePath: string
  readonly #headers: Record<string, string>

  constructor({ baseUrl, apiKey, dispatcher }: Server, timings: Timings, random: () => number) {
    const url = new URL(baseUrl)
    const path = url.pathname.replace(/\/+$/, '')
    this.#origin = url.origin
    // A bare host means the usual place; anything longer is taken as it is.
    this.#basePath = path === '' ? '/v1' : path
    this.#headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    if (apiKey) this.#headers['authorization'] = `Bearer ${apiKey.reveal()}`
    this.#dispatcher = dispatcher
    this.#timings = timings
    this.#random = random
  }

  get url(): string {
    return this.#origin + this.#basePath
  }

  /** Gives an answer of which at least one byte has come. `onAttempt` is told before each try, so that limits that count from the sending can start anew. */
  async open(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    deadline: Deadline,
    onAttempt: () => void,
  ): Promise<Exchange> {
    let hasReset = false
    for (let retry = 0; ; retry++) {
      onAttempt()
      const tried = await this.#try(method, path, body, deadline)
      if (tried instanceof Exchange) return tried
      const mayRetry = tried.kind === 'reset' ? !hasReset : tried.kind !== 'final'
      const delayMs = mayRetry ? retryDelayMs(retry, tried.retryAfterSeconds, this.#timings, this.#random) : undefined
      if (delayMs === undefined) throw tried.problem
      hasReset ||= tried.kind === 'reset'
      deadline.endStage()
      await sleep(delayMs, undefined, { signal: deadline.signal }).catch(() => {
        throw deadline.reason
      })
    }
  }

  async #try(
    method: 'GET' | 'POST',
    path: string,
    body: string | null,
    deadline: Deadline,
  ): Promise<Exchange | Failure> {
    try {
      const options = { method, headers: this.#headers, body, headersTimeout: 0, bodyTimeout: 0 }
      const place = { origin: this.#origin, path: this.#basePath + path }
      const answer = await Exchange.open(this.#dispatcher, { ...place, ...options }, deadline)
      const { status, headers } = answer
      if (status > 299) {
        const retryAfterSeconds = readRetryAfter(headers['retry-after'], Date.now())
        const problem = refusalProblem(status, await answer.textUpTo(REFUSAL_BYTES_MAX), retryAfterSeconds)
        return { problem, kind: isRetryableStatus(status) ? 'status' : 'final', retryAfterSeconds }
      }
      if (answer.isEmpty)
        return { problem: new Problem('upstream_invalid', 'The model server sent nothing'), kind: 'final' }
      return answer
    } catch (error) {
      if (deadline.isOver) throw deadline.reason
      return explain(error)
    }
  }
}

/** Turns a failure of the network into our words. A refusal by the egress rules is already in them. */
function explain(error: unknown): Failure {
  if (error instanceof Problem) return { problem: error, kind: 'final' }
  const kind = networkFailure(error)
  const parts = { cause: error }
  if (kind === 'connect')
    return { problem: new Problem('upstream_unreachable', 'The model server cannot be reached', parts), kind }
  if (kind === 'reset') {
    return {
      problem: new Problem('upstream_unreachable', 'The model server closed the connection without an answer', parts),
      kind,
    }
  }
  return {
    problem: new Problem('upstream_unreachable', 'The connection to the model server failed', parts),
    kind: 'final',
  }
}
