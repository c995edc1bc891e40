// ShieldGemma: the policy is part of the prompt; it says Yes when the policy is broken and No when it is kept.
import type { Spoken } from '../conversation.ts'
import { textGuard } from './adapter.ts'
import { POLICY } from './policy-text.ts'

export function readShieldGemma(verdict: string): string[] | undefined {
  const word = /^\W*(yes|no)\b/i.exec(verdict)?.[1]?.toLowerCase()
  if (word === undefined) return undefined
  return word === 'yes' ? ['policy_violation'] : []
}

const ask = (turns: readonly Spoken[]): Spoken[] => {
  const said = turns.map(({ role, content }) => `${role === 'user' ? 'Human' : 'Assistant'}: ${content}`).join('\n\n')
  const content = [
    'You check messages against a safety policy.',
    `<start_of_turn>\n${said}\n<end_of_turn>`,
    `The policy forbids:\n\n${POLICY.map(({ label, rule }) => `* ${label}: ${rule}`).join('\n')}`,
    "Does what the human says last break the policy? Begin your answer with 'Yes' or 'No'.",
  ].join('\n\n')
  return [{ role: 'user', content }]
}

export const shieldGemma = textGuard(ask, readShieldGemma)
