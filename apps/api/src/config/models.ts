// Settings of the models and of how much of them may be used.
import type { BudgetLimits, Limits } from '../access/budgets/budgets.ts'
import { Secret } from '../base/secret.ts'
import type { EnvironmentReader } from './environment.ts'

export interface InferenceConfig {
  /** An OpenAI-compatible server. */
  readonly url: string | undefined
  readonly apiKey: Secret | undefined
  /** A GGUF file for the embedded engine. */
  readonly modelFile: string | undefined
  readonly defaultModel: string | undefined
  readonly guardModel: string | undefined
  readonly routerModel: string | undefined
}

export function readInference(read: EnvironmentReader): InferenceConfig {
  const apiKey = read.optional('INFERENCE_API_KEY')
  return {
    url: read.url('INFERENCE_URL', '') || undefined,
    apiKey: apiKey === undefined ? undefined : new Secret(apiKey),
    modelFile: read.file('INFERENCE_MODEL_FILE'),
    defaultModel: read.optional('DEFAULT_MODEL'),
    guardModel: read.optional('GUARD_MODEL'),
    routerModel: read.optional('ROUTER_MODEL'),
  }
}

export const readBudgets = (read: EnvironmentReader): BudgetLimits => ({
  tokensPerDay: limits(read, 'TOKENS_PER_DAY', Number.MAX_SAFE_INTEGER),
  concurrentCompletions: limits(read, 'CONCURRENT_COMPLETIONS', 1_000_000),
})

const limits = (read: EnvironmentReader, name: string, max: number): Limits => ({
  tenant: read.integer(`BUDGET_TENANT_${name}`, 0, 0, max),
  space: read.integer(`BUDGET_SPACE_${name}`, 0, 0, max),
  user: read.integer(`BUDGET_USER_${name}`, 0, 0, max),
})
