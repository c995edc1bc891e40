// Messages in their three forms (contract 2.9): as requests give them, as chats keep them, as chats answer them.
import { type Static, Type } from 'typebox'
import { filled, freeForm, input, named, text, timestamp } from '../../contract/shapes.ts'
import { type ToolCall as EngineCall, type Message, textOf } from '../../outside/models/engine.ts'

const CalledFunction = Type.Object({ name: text, arguments: text })
const GivenCall = Type.Object({ id: text, type: Type.Optional(text), function: CalledFunction })

/** Clients send back what they were answered, so fields that nobody here knows are let in; they are not kept. */
export const GivenMessage = named(
  'GivenMessage',
  Type.Object({
    role: filled,
    content: Type.Optional(Type.Union([text, Type.Null(), Type.Array(freeForm)])),
    name: Type.Optional(text),
    tool_call: Type.Optional(Type.Array(GivenCall)),
    tool_calls: Type.Optional(Type.Array(GivenCall)),
    tool_call_id: Type.Optional(text),
  }),
)
export type GivenMessage = Static<typeof GivenMessage>

const ToolCall = Type.Object({ id: text, type: text, function: CalledFunction })
export const ToolCalls = Type.Array(ToolCall)

const StoredCall = input({
  id: Type.Optional(text),
  type: Type.Optional(text),
  index: Type.Optional(Type.Integer()),
  function: Type.Optional(input({ name: Type.Optional(text), arguments: Type.Optional(text) })),
})
const stored = {
  role: filled,
  content: Type.Optional(text),
  name: Type.Optional(text),
  created_at: Type.Optional(timestamp),
  inference_log_id: Type.Optional(text),
  function: Type.Optional(StoredCall),
  tool_calls: Type.Optional(Type.Array(StoredCall)),
  tool_call_id: Type.Optional(text),
}
export const StoredMessage = named('StoredMessage', input(stored))
export type StoredMessage = Static<typeof StoredMessage>

export const ChatMessage = named(
  'ChatMessage',
  Type.Object({
    role: text,
    content: text,
    name: Type.Optional(text),
    tool_call: Type.Optional(ToolCalls),
    tool_call_id: Type.Optional(text),
  }),
)
export type ChatMessage = Static<typeof ChatMessage>

/** A message in the table. Pictures and the like stay as they came, so that the conversation can go on. */
export interface KeptMessage extends Omit<StoredMessage, 'content'> {
  content?: Exclude<Message['content'], undefined>
}

export function toMessage({ role, content, name, tool_call_id, tool_calls, tool_call }: GivenMessage): Message {
  const called = tool_calls ?? tool_call
  return {
    role,
    ...(content !== undefined && { content }),
    ...(name !== undefined && { name }),
    ...(called &&
      called.length > 0 && { tool_calls: called.map((call) => ({ ...call, type: call.type ?? 'function' })) }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  }
}

/** What a kept message tells the model. */
export function fromKept({ role, content, name, tool_call_id, ...calls }: KeptMessage): Message {
  const called = callsIn(calls)
  return {
    role,
    ...(content !== undefined && { content }),
    ...(name !== undefined && { name }),
    ...(called.length > 0 && { tool_calls: called }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  }
}

export function toKept(message: Message, createdAt: string, logId: string): KeptMessage {
  const kept = { ...message, created_at: createdAt, inference_log_id: logId }
  const { tool_calls } = message
  return tool_calls
    ? { ...kept, tool_calls: tool_calls.map((call, index) => ({ ...call, index })) }
    : (kept as KeptMessage)
}

/** The form that logs show: words only. */
export const toStored = (message: KeptMessage): StoredMessage =>
  typeof message.content === 'string' ? (message as StoredMessage) : { ...message, content: textOf(message) }

export function toChatMessage(message: KeptMessage): ChatMessage {
  const called = callsIn(message)
  return {
    role: message.role,
    content: textOf(message),
    ...(message.name !== undefined && { name: message.name }),
    ...(called.length > 0 && { tool_call: called }),
    ...(message.tool_call_id !== undefined && { tool_call_id: message.tool_call_id }),
  }
}

function callsIn({ tool_calls, function: single }: Pick<KeptMessage, 'tool_calls' | 'function'>): EngineCall[] {
  return (tool_calls ?? (single ? [single] : [])).map(({ id = '', type = 'function', function: called }) => ({
    id,
    type,
    function: { name: called?.name ?? '', arguments: called?.arguments ?? '' },
  }))
}
