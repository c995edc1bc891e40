// How long a model call may take at each stage, and how often it is tried again.

export interface Timings {
  /** From sending the request to the first token of a streamed answer. */
  readonly firstTokenMs: number
  /** Between two pieces of a streamed answer. */
  readonly idleMs: number
  /** After the finish reason, for the usage chunk and the end mark that should follow at once. */
  readonly tailMs: number
  /** The whole call, retries included. It is also the limit for an answer fetched in one piece. */
  readonly totalMs: number
  /** The list of models, retries included. */
  readonly modelsMs: number
  readonly retries: number
  readonly backoffMinMs: number
  readonly backoffMaxMs: number
  /** A server that asks us to wait longer than this is not waited for. */
  readonly retryAfterMaxMs: number
}

export const defaultTimings: Timings = {
  firstTokenMs: 120_000,
  idleMs: 60_000,
  tailMs: 5_000,
  totalMs: 600_000,
  modelsMs: 20_000,
  retries: 2,
  backoffMinMs: 250,
  backoffMaxMs: 4_000,
  retryAfterMaxMs: 30_000,
}

/** For whoever makes the dispatcher. vLLM drops idle connections after 5 s, so ours must be dropped sooner. */
export const connectionTimings = { connectTimeoutMs: 5_000, keepAliveTimeoutMs: 3_500 } as const
