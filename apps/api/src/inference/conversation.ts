// The part of a conversation that guard and router look at: the last turn of the user in full, and a bounded piece of what led to it.
import { kindMark, type Message } from '../outside/models/engine.ts'

export interface Spoken {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

const HISTORY_TURNS_MAX = 8
const HISTORY_CHARACTERS_MAX = 8_000

/**
 * Roles alternate and the last one is the user's, as guard models' templates insist. Whatever the assistant did not say counts
 * as the user's: system messages and tool results come from the caller too. The last turn is never cut, or text could hide behind the cut.
 */
export function recentTurns(messages: readonly Message[]): Spoken[] {
  const turns: { role: Spoken['role']; content: string }[] = []
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const content = saidIn(message)
    const last = turns.at(-1)
    if (last?.role === role) last.content += `\n\n${content}`
    else turns.push({ role, content })
  }
  const lastOfUser = turns.findLastIndex(({ role }) => role === 'user')
  if (lastOfUser === -1) return turns.map(({ content }) => ({ role: 'user', content }))
  // An answer that the caller began in the assistant's name is part of what the caller asks for.
  const last = turns.slice(lastOfUser).map(({ content }) => content)
  return [...bounded(turns.slice(0, lastOfUser)), { role: 'user', content: last.join('\n\n') }]
}

function bounded(turns: readonly Spoken[]): Spoken[] {
  const kept: Spoken[] = []
  let left = HISTORY_CHARACTERS_MAX
  for (const { role, content } of turns.slice(-HISTORY_TURNS_MAX).reverse()) {
    if (left <= 0) break
    kept.unshift({ role, content: content.slice(-left) })
    left -= content.length
  }
  if (kept[0]?.role === 'assistant') kept.shift()
  return kept
}

function saidIn({ content, tool_calls = [] }: Message): string {
  const parts = typeof content === 'string' ? [content] : (content ?? []).flatMap(wordsIn)
  const calls = tool_calls.map(({ function: { name, arguments: text } }) => `${name}(${text})`)
  return [...parts, ...calls].filter((text) => text !== '').join('\n')
}

const MEDIA = new Set(['image_url', 'input_audio', 'audio_url', 'video_url', 'file', 'image', 'audio', 'video'])

/** Servers find words in more kinds of parts than one, and whatever they may read has to be judged. */
function wordsIn(part: Readonly<Record<string, unknown>>): string[] {
  const words = Object.entries(part).flatMap(([key, value]) =>
    key === 'type' || MEDIA.has(key) ? [] : stringsIn(value),
  )
  return part['type'] === 'text' ? words : [kindMark(part), ...words]
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}
