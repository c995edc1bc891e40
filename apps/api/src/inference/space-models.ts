// Where a space's model calls go and how its stages are set: read once, kept until it changes or grows old.
import type { SpaceGrant } from '../base/grant.ts'
import { Recent } from '../base/recent.ts'
import type { Engine } from '../outside/models/engine.ts'
import { type Backends, chooseEngine } from '../outside/models/gateway.ts'
import { FormatMemory } from './formats.ts'
import type { GuardStyle } from './guard/judge.ts'

export interface SpaceSettings {
  readonly guard_model?: string | undefined
  /** How to ask it, where its name does not tell. */
  readonly guard_style?: GuardStyle | undefined
  readonly router_model?: string | undefined
  readonly guard_policy?: string | undefined
  readonly guard_fail_open: boolean
  readonly tokens_per_day?: number | undefined
  readonly concurrent_completions?: number | undefined
}

/** What the database knows about a space's models. */
export interface SpaceModels {
  /** The space's own cluster, where it has one. */
  readonly cluster: Engine | undefined
  readonly settings: SpaceSettings
}

export interface ModelDefaults {
  readonly model?: string | undefined
  readonly guard?: string | undefined
  readonly router?: string | undefined
}

const SPACES_MAX = 10_000
/** Changes are announced; this is for the announcement that got lost. */
const KEPT_MS = 5_000

export class ModelDirectory {
  readonly defaults: ModelDefaults
  readonly formats = new FormatMemory()
  readonly #backends: Backends
  readonly #read: (grant: SpaceGrant) => Promise<SpaceModels>
  #forgotten = 0
  readonly #known = new Recent<{ readonly models: SpaceModels; readonly until: number }>(SPACES_MAX)

  constructor(backends: Backends, defaults: ModelDefaults, read: (grant: SpaceGrant) => Promise<SpaceModels>) {
    this.#backends = backends
    this.defaults = defaults
    this.#read = read
  }

  /** At once when it is known, which it nearly always is. */
  of(grant: SpaceGrant): SpaceModels | Promise<SpaceModels> {
    const known = this.#known.get(keyOf(grant.tenantId, grant.spaceId))
    return known && performance.now() < known.until ? known.models : this.#readAgain(grant, known?.models)
  }

  engineOf({ cluster }: SpaceModels): Engine {
    return chooseEngine(cluster, this.#backends)
  }

  forget(tenantId: string, spaceId: string): void {
    this.#forgotten++
    this.#known.delete(keyOf(tenantId, spaceId))
  }

  async #readAgain(grant: SpaceGrant, old: SpaceModels | undefined): Promise<SpaceModels> {
    const forgotten = this.#forgotten
    let models: SpaceModels
    try {
      models = await this.#read(grant)
    } catch (error) {
      // While the database is away, what was true a moment ago is the best there is.
      if (!old) throw error
      models = old
    }
    // What was read before a change must not outlive it.
    if (forgotten === this.#forgotten)
      this.#known.set(keyOf(grant.tenantId, grant.spaceId), { models, until: performance.now() + KEPT_MS })
    return models
  }
}

const keyOf = (tenantId: string, spaceId: string): string => `${tenantId} ${spaceId}`
