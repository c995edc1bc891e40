// Llama Guard: its chat template holds the policy; it says safe, or unsafe and a line of S-codes.
import { textGuard } from './adapter.ts'

export function readLlamaGuard(verdict: string): string[] | undefined {
  const [word = '', ...rest] = verdict.trim().split(/\s*\n\s*/)
  if (/^safe$/i.test(word)) return []
  if (!/^unsafe$/i.test(word)) return undefined
  const codes = rest.join(',').match(/\bS\d+\b/gi)
  return codes ? [...new Set(codes.map((code) => code.toUpperCase()))] : ['unsafe']
}

export const llamaGuard = textGuard((turns) => turns, readLlamaGuard)
