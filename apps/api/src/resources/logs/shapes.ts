// Logs and statistics on the wire (contract 2.16).
import { type Static, Type } from 'typebox'
import { choice, freeForm, named, recordOf, text, timestamp } from '../../contract/shapes.ts'
import { StoredMessage, ToolCalls } from '../chats/messages.ts'

const count = Type.Integer()

const spoken = {
  content: Type.Optional(text),
  reasoning_content: Type.Optional(text),
  input_tokens: Type.Optional(count),
  output_tokens: Type.Optional(count),
  time: Type.Optional(Type.Number({ description: 'Seconds' })),
}
const ResponseLog = Type.Object({
  answer: Type.Optional(Type.Object({ ...spoken, tool_calls: Type.Optional(ToolCalls) })),
  guard: Type.Optional(Type.Object({ ...spoken, category: text })),
  router: Type.Optional(Type.Object({ ...spoken, expert: text })),
})
export type ResponseLog = Static<typeof ResponseLog>

export const Log = named(
  'Log',
  Type.Object({
    _id: text,
    id: text,
    api: text,
    correlation_id: text,
    created_at: timestamp,
    finished_at: timestamp,
    error_message: Type.Optional(text),
    model: text,
    space: text,
    status: choice('success', 'error'),
    type: Type.Optional(text),
    user: text,
    input_tokens: count,
    total_tokens: count,
    latency_ms: count,
    position: Type.Optional(count),
    stream: Type.Boolean(),
    tags: Type.Array(text),
    metadata: Type.Optional(freeForm),
    messages: Type.Array(StoredMessage),
    response_log: ResponseLog,
  }),
)
export type Log = Static<typeof Log>

export const Statistics = named(
  'Statistics',
  Type.Object({
    avg_latency_ms: Type.Number(),
    success_rate: Type.Number({ description: 'From 0 to 1' }),
    input_tokens: count,
    output_tokens: count,
    total_tokens: count,
    total_calls: count,
    model_usage: recordOf(Type.Number()),
    period_start_date: Type.Optional(timestamp),
    period_end_date: Type.Optional(timestamp),
  }),
)
export type Statistics = Static<typeof Statistics>
