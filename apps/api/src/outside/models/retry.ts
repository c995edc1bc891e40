// Decides whether a model call that gave no byte yet is tried again, and after how long.
import type { Timings } from './timings.ts'

const RETRYABLE_STATUS = new Set([429, 502, 503, 504])
const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])
const RESET_CODES = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

export const isRetryableStatus = (status: number): boolean => RETRYABLE_STATUS.has(status)

/** 'connect': the request never left. 'reset': a connection ended under it, as a kept-alive one does when the server tires of it. */
export function networkFailure(error: unknown): 'connect' | 'reset' | 'other' {
  const code = codeOf(error)
  if (CONNECT_CODES.has(code)) return 'connect'
  return RESET_CODES.has(code) ? 'reset' : 'other'
}

/** Milliseconds to wait before retry number `retry` (0 is the first), or undefined when there shall be none. */
export function retryDelayMs(
  retry: number,
  retryAfterSeconds: number | undefined,
  timings: Timings,
  random: () => number,
): number | undefined {
  if (retry >= timings.retries) return undefined
  const askedMs = (retryAfterSeconds ?? 0) * 1000
  if (askedMs > timings.retryAfterMaxMs) return undefined
  const ceilingMs = Math.min(timings.backoffMaxMs, timings.backoffMinMs * 4 ** (retry + 1))
  return Math.max(askedMs, timings.backoffMinMs + random() * (ceilingMs - timings.backoffMinMs))
}

/** Retry-After is either seconds or a date. */
export function readRetryAfter(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (!text) return undefined
  const seconds = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : (Date.parse(text) - nowMs) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds))
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0])
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
