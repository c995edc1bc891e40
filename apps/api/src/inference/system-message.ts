// Adds instructions to a conversation. Many chat templates take one system message only, so there is never a second.
import { type Message, textOf } from '../outside/models/engine.ts'

export function withSystem(messages: readonly Message[], text: string): Message[] {
  const [first, ...rest] = messages
  if (first?.role !== 'system') return [{ role: 'system', content: text }, ...messages]
  return [{ ...first, content: `${textOf(first)}\n\n${text}` }, ...rest]
}
