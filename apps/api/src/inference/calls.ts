// What every step of inference needs to call a model.
import type { Engine } from '../outside/models/engine.ts'
import type { FormatMemory } from './formats.ts'
import { type MeteredEngine, metered } from './metered.ts'

export interface ModelCalls {
  readonly engine: Engine
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal
  readonly formats: FormatMemory
  /** Milliseconds on a clock that never runs back. */
  now(): number
}

/** Keeps count of what its calls cost. */
export interface MeteredCalls extends ModelCalls {
  readonly engine: MeteredEngine
}

export const withMeter = (calls: ModelCalls): MeteredCalls => ({ ...calls, engine: metered(calls.engine) })

/** Nobody reads along with guard and router, so their calls have no first token to wait for, and a limit of their own. */
export const STAGE_MS_MAX = 120_000

export const secondsSince = (calls: ModelCalls, startedAt: number): number => (calls.now() - startedAt) / 1000
