// Chats and chat completions on the wire (contract 2.9, 4.2.3).
import { type Static, Type } from 'typebox'
import { changes, filled, freeForm, input, named, orNull, text, timestamp } from '../../contract/shapes.ts'
import { ChatMessage, GivenMessage, StoredMessage, ToolCalls } from './messages.ts'

/** What logs are summed by; the bound keeps it fit for an index. */
export const label = Type.String({ minLength: 1, maxLength: 128 })
/** Servers name models by their folders, too. */
export const modelName = Type.String({ minLength: 1, maxLength: 256 })
const flag = Type.Boolean()
export const temperature = Type.Number({ minimum: 0 })
export const topP = Type.Number({ minimum: 0, maximum: 1 })
export const maxTokens = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })

const said = { content: Type.Optional(text), reasoning_content: Type.Optional(text) }
const LastResponse = input({
  answer: Type.Optional(input({ ...said, tool_calls: Type.Optional(ToolCalls) })),
  guard: Type.Optional(input({ ...said, category: Type.Optional(text) })),
  router: Type.Optional(input({ ...said, expert: Type.Optional(text) })),
})
export type LastResponse = Static<typeof LastResponse>

const settings = {
  model: modelName,
  max_tokens: maxTokens,
  temperature,
  guard_enabled: flag,
  router_enabled: flag,
}

export const ChatChanges = named(
  'ChatChanges',
  changes(input({ name: filled, ...settings, messages: Type.Array(StoredMessage), last_response: LastResponse })),
)
export type ChatChanges = Static<typeof ChatChanges>

export const Chat = named(
  'Chat',
  Type.Object({
    id: text,
    name: text,
    created_at: timestamp,
    messages: Type.Array(ChatMessage),
    ...Type.Partial(Type.Object({ ...settings, last_response: LastResponse, updated_at: timestamp })).properties,
  }),
)
export type Chat = Static<typeof Chat>

const Tool = Type.Object({
  type: filled,
  function: Type.Object({
    name: filled,
    description: Type.Optional(text),
    parameters: Type.Optional(freeForm),
    strict: orNull(flag),
  }),
})
/** Not a choice between shapes: of those a caller would be told what the first one misses. */
const ResponseFormat = Type.Object({
  type: Type.Enum(['text', 'json_object', 'json_schema']),
  json_schema: Type.Optional(Type.Object({ name: text, schema: Type.Optional(freeForm) })),
})

/** The one body that takes unknown fields: they are parameters for the model server. */
export const CompletionRequest = named(
  'CompletionRequest',
  Type.Object({
    messages: Type.Array(GivenMessage, { minItems: 1 }),
    model: Type.Optional(modelName),
    id: Type.Optional(Type.String({ description: 'The chat to continue; a new one begins when absent' })),
    name: Type.Optional(filled),
    type: Type.Optional(label),
    user: Type.Optional(label),
    max_tokens: orNull(maxTokens),
    max_completion_tokens: orNull(maxTokens),
    temperature: orNull(temperature),
    top_p: orNull(topP),
    stream: orNull(flag),
    echo: Type.Optional(flag),
    guard_enabled: Type.Optional(flag),
    guard_reasoning_enabled: Type.Optional(flag),
    router_enabled: Type.Optional(flag),
    router_reasoning_enabled: Type.Optional(flag),
    expert_ids: Type.Optional(Type.Array(text, { maxItems: 1000 })),
    tags: Type.Optional(Type.Array(label, { maxItems: 100 })),
    metadata: orNull(freeForm),
    tools: orNull(Type.Array(Tool)),
    response_format: orNull(ResponseFormat),
    n: orNull(Type.Literal(1)),
    stream_options: Type.Optional(Type.Unknown()),
  }),
)
export type CompletionRequest = Static<typeof CompletionRequest>

export const Usage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
})
const stage = {
  id: text,
  content: text,
  reasoning_content: Type.Optional(text),
  finish_reason: text,
  elapsed_time_in_seconds: Type.Number(),
  usage: Usage,
}
const Answered = Type.Object({
  role: text,
  content: text,
  reasoning_content: Type.Optional(text),
  tool_calls: Type.Optional(ToolCalls),
})

export const ChatCompletion = named(
  'ChatCompletion',
  Type.Object({
    id: text,
    object: text,
    model: text,
    created: Type.Integer(),
    created_at: timestamp,
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        finish_reason: text,
        message: Answered,
        logprobs: Type.Optional(Type.Unknown()),
      }),
    ),
    usage: Usage,
    guard: Type.Optional(Type.Object({ ...stage, category: text })),
    router: Type.Optional(Type.Object({ ...stage, expert: text })),
  }),
)
export type ChatCompletion = Static<typeof ChatCompletion>
