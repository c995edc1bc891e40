// How the verdicts of each family of guard models are read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { styleOf } from './judge.ts'
import { readLlamaGuard } from './llama-guard.ts'
import { readQwen3Guard } from './qwen3-guard.ts'
import { readShieldGemma } from './shield-gemma.ts'

type Case = [verdict: string, labels: string[] | undefined]
const check = (read: (verdict: string) => string[] | undefined, cases: Case[]) => {
  for (const [verdict, labels] of cases) assert.deepEqual(read(verdict), labels, JSON.stringify(verdict))
}

test('Llama Guard: safe, unsafe with codes, and nothing else', () => {
  check(readLlamaGuard, [
    ['safe', []],
    ['\n\nsafe', []],
    ['unsafe\nS1,S10', ['S1', 'S10']],
    ['\n\nunsafe\ns2\n', ['S2']],
    ['unsafe', ['unsafe']],
    ['safe to say that I cannot tell', undefined],
    ['', undefined],
  ])
})

test('Qwen3Guard: only an outright Safe passes', () => {
  check(readQwen3Guard, [
    ['Safety: Safe\nCategories: None', []],
    ['Safety: Unsafe\nCategories: Violent, PII', ['Violent', 'PII']],
    ['Safety: Controversial\nCategories: Politically Sensitive Topics', ['Politically Sensitive Topics']],
    ['Safety: Unsafe\nCategories: None', ['unsafe']],
    ['It is fine.', undefined],
    ['Safety: Safe or so', undefined],
  ])
})

test('ShieldGemma: Yes breaks the policy, No keeps it', () => {
  check(readShieldGemma, [
    ['No', []],
    ['**No**, because', []],
    ['Yes. It asks for', ['policy_violation']],
    ['Nobody knows', undefined],
    ['Perhaps yes', undefined],
  ])
})

test('the family is told from the name of the model', () => {
  const names = {
    'meta-llama/Llama-Guard-4-12B': 'llama-guard',
    'llamaguard:8b': 'llama-guard',
    'Qwen/Qwen3Guard-Gen-4B': 'qwen3-guard',
  }
  for (const [name, style] of Object.entries(names)) assert.equal(styleOf(name), style)
  assert.equal(styleOf('google/shieldgemma-9b'), 'shield-gemma')
  assert.equal(styleOf('gpt-oss-20b'), 'policy')
})
