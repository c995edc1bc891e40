// The only error thrown on purpose (contract 7). Codes are stable API; messages are safe to show, causes are only logged.

/** Every code the service can answer with, and its status. A status appears nowhere else. */
export const STATUS = {
  invalid_request: 400,
  invalid_json: 400,
  unknown_field: 400,
  invalid_cursor: 400,
  invalid_reference: 400,
  space_required: 400,
  space_mismatch: 400,
  login_failed: 400,
  login_state_invalid: 400,
  upload_token_invalid: 400,
  cluster_unusable: 400,
  unauthenticated: 401,
  token_expired: 401,
  forbidden: 403,
  escalation: 403,
  not_found: 404,
  model_not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  seat_name_taken: 409,
  last_admin_seat: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  idempotency_outcome_unknown: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  budget_exceeded: 429,
  headers_too_large: 431,
  internal: 500,
  upstream_unreachable: 502,
  upstream_error: 502,
  upstream_invalid: 502,
  address_refused: 502,
  database_unavailable: 503,
  identity_provider_unavailable: 503,
  no_inference_backend: 503,
  guard_unavailable: 503,
  upstream_rate_limited: 503,
  shutting_down: 503,
  upstream_timeout: 504,
} as const

export type Code = keyof typeof STATUS

/** One field that is wrong, when a request has several. */
export interface Detail {
  readonly param: string
  readonly message: string
  /** Where it stands, when what is wrong came in a file. */
  readonly file?: string
  readonly line?: number
}

/** What a refused caller is told, so that an administrator can mend it without guessing. */
export interface AccessExplanation {
  readonly space: string | undefined
  readonly permission: string
  readonly seats: readonly string[]
}

export interface ProblemParts {
  readonly cause?: unknown
  readonly param?: string | undefined
  readonly details?: readonly Detail[]
  readonly access?: AccessExplanation
  readonly retryAfterSeconds?: number
}

export class Problem extends Error {
  readonly code: Code
  readonly param: string | undefined
  readonly details: readonly Detail[] | undefined
  readonly access: AccessExplanation | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: Code, message: string, parts: ProblemParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.name = 'Problem'
    this.code = code
    this.param = parts.param
    this.details = parts.details
    this.access = parts.access
    this.retryAfterSeconds = parts.retryAfterSeconds
  }

  get status(): number {
    return STATUS[this.code]
  }
}
