// The record of one model-backed call: its log, and what it added to a chat where there is one (contract 2.16).
import type { SpaceGrant } from '../../base/grant.ts'
import { isoTime } from '../../base/iso-time.ts'
import type { Outcome } from '../../inference/outcome.ts'
import type { Usage } from '../../outside/models/engine.ts'
import type { StoredMessage } from '../chats/messages.ts'
import type { ResponseLog } from './shapes.ts'

/** What is known of a call when it begins. */
export interface CallHead {
  /** Of the log. */
  readonly id: string
  /** When the call began: the time in its id. */
  readonly createdAtMs: number
  readonly grant: SpaceGrant
  /** The operation. */
  readonly api: string
  readonly model: string
  readonly stream: boolean
  readonly type?: string | undefined
  readonly user?: string | undefined
  readonly position?: number | undefined
  readonly tags?: readonly string[] | undefined
  readonly metadata?: object | null | undefined
}

/** A row of logs, by the names of its columns. */
export interface LogRow {
  readonly tenant_id: string
  readonly space_id: string
  readonly id: string
  readonly [column: string]: unknown
}

export function logOf(
  head: CallHead,
  messages: readonly StoredMessage[],
  outcome: Outcome,
  finishedAtMs: number,
): LogRow {
  const used = usedBy(outcome)
  return {
    tenant_id: head.grant.tenantId,
    space_id: head.grant.spaceId,
    id: head.id,
    created_at: isoTime(head.createdAtMs),
    finished_at: isoTime(finishedAtMs),
    api: head.api,
    correlation_id: head.grant.requestId,
    status: outcome.error === undefined ? 'success' : 'error',
    error_message: outcome.error,
    model: head.model,
    type: head.type,
    user_id: head.user ?? head.grant.userId,
    input_tokens: used.prompt_tokens,
    total_tokens: used.total_tokens,
    latency_ms: Math.max(0, finishedAtMs - head.createdAtMs),
    position: head.position,
    stream: head.stream,
    tags: head.tags ?? [],
    metadata: head.metadata ?? undefined,
    messages,
    response_log: responseLog(outcome),
  }
}

/** The tokens of all stages together: that is what the call cost. */
export function usedBy({ guard, router, answer, partial, spent }: Outcome): Usage {
  let prompt_tokens = 0
  let completion_tokens = 0
  for (const usage of [guard?.usage, router?.usage, (answer ?? partial)?.usage, spent]) {
    prompt_tokens += usage?.prompt_tokens ?? 0
    completion_tokens += usage?.completion_tokens ?? 0
  }
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}

interface Spoken {
  readonly content: string
  readonly reasoning_content?: string
  readonly usage: Usage
  readonly elapsed_time_in_seconds?: number
}

function responseLog({ guard, router, answer, partial }: Outcome): ResponseLog {
  const said = answer ?? partial
  return {
    ...(said && {
      answer: { ...spoken(said), ...(said.tool_calls && { tool_calls: said.tool_calls as never }) },
    }),
    ...(guard && { guard: { ...spoken(guard), category: guard.category } }),
    ...(router && { router: { ...spoken(router), expert: router.expert } }),
  }
}

const spoken = ({ content, reasoning_content, usage, elapsed_time_in_seconds }: Spoken) => ({
  content,
  ...(reasoning_content !== undefined && { reasoning_content }),
  input_tokens: usage.prompt_tokens,
  output_tokens: usage.completion_tokens,
  ...(elapsed_time_in_seconds !== undefined && { time: elapsed_time_in_seconds }),
})
