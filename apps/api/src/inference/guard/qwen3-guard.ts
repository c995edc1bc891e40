// Qwen3Guard: its chat template holds the policy; it says Safety and Categories on lines of their own.
import { textGuard } from './adapter.ts'

/** Only an outright "Safe" passes: "Controversial" is for whoever configures the guard to judge, and they asked for one. */
export function readQwen3Guard(verdict: string): string[] | undefined {
  const safety = /^\s*Safety:\s*(Safe|Unsafe|Controversial)\s*$/im.exec(verdict)?.[1]?.toLowerCase()
  if (safety === undefined) return undefined
  if (safety === 'safe') return []
  const listed = /^\s*Categories:\s*(.+)$/im.exec(verdict)?.[1] ?? ''
  const labels = listed.split(',').map((label) => label.trim())
  const named = labels.filter((label) => label !== '' && label.toLowerCase() !== 'none')
  return named.length > 0 ? named : [safety]
}

export const qwen3Guard = textGuard((turns) => turns, readQwen3Guard)
