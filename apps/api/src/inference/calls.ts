// What every step of inference needs to call a model.
import type { Engine } from '../outside/models/engine.ts'
import type { FormatMemory } from './formats.ts'

export interface ModelCalls {
  readonly engine: Engine
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal
  readonly formats: FormatMemory
  /** Milliseconds on a clock that never runs back. */
  now(): number
}

export const secondsSince = (calls: ModelCalls, startedAt: number): number => (calls.now() - startedAt) / 1000
