// Budgets (contract 8): tokens per day and completions at one time, for tenant, space and user, shared by all processes.
import type { SpaceGrant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import type { Client } from '../../storage/sql.ts'
import { Allowance } from './allowance.ts'
import { type AllowanceKey, spentOf, takeAllowance } from './allowances-store.ts'

/** A limit of 0 is none. */
export interface Limits {
  readonly tenant: number
  readonly space: number
  readonly user: number
}

export interface BudgetLimits {
  readonly tokensPerDay: Limits
  readonly concurrentCompletions: Limits
}

/** What the space itself asks for; it can only be stricter than the operator. */
export interface OwnLimits {
  readonly tokens_per_day?: number | undefined
  readonly concurrent_completions?: number | undefined
}

export interface Admission {
  /** Called exactly once, with what the call really took. */
  end(tokens: number): Promise<void>
}

interface Wanted {
  readonly counts: 'tokens' | 'completions'
  readonly scope: string
  readonly tenantId: string
  readonly subject: string
  readonly max: number
  readonly amount: number
}

interface Taken {
  readonly allowance: Allowance
  readonly amount: number
  readonly counts: Wanted['counts']
}

const FREE: Admission = { end: async () => {} }
const SETTLE_EVERY_MS = 1_000
const NO_PERIOD = '1970-01-01'
/** A limit is taken from in portions of this part of it; below this many it is exact. */
const PORTIONS = 64
/** Few answers are longer, and a limit that somebody sets at random must not keep the whole budget from others. */
const TOKENS_SET_ASIDE_MAX = 32_768

export class Budgets {
  readonly #system: Client
  readonly #replicaId: string
  readonly #limits: BudgetLimits
  readonly #isLimited: boolean
  readonly #allowances = new Map<string, Allowance>()
  readonly #settling: NodeJS.Timeout
  readonly #onError: (error: unknown) => void

  constructor(system: Client, replicaId: string, limits: BudgetLimits, onError: (error: unknown) => void) {
    this.#system = system
    this.#replicaId = replicaId
    this.#limits = limits
    this.#isLimited = Object.values(limits).some((of: Limits) => of.tenant > 0 || of.space > 0 || of.user > 0)
    this.#onError = onError
    this.#settling = setInterval(() => void this.#settle(), SETTLE_EVERY_MS).unref()
  }

  /** Lets a call begin that is expected to take so many tokens, or refuses it with the limit that is reached. */
  admit(grant: SpaceGrant, tokens: () => number, own: OwnLimits): Admission | Promise<Admission> {
    if (!this.#isLimited && !own.concurrent_completions && !own.tokens_per_day) return FREE
    const wanted = [
      ...this.#wanted('completions', grant, this.#limits.concurrentCompletions, own.concurrent_completions, 1),
      ...this.#wanted(
        'tokens',
        grant,
        this.#limits.tokensPerDay,
        own.tokens_per_day,
        Math.min(Math.max(1, tokens()), TOKENS_SET_ASIDE_MAX),
      ),
    ]
    return this.#takeAll(wanted)
  }

  async close(): Promise<void> {
    clearInterval(this.#settling)
    await this.#settle()
  }

  #wanted(
    counts: Wanted['counts'],
    grant: SpaceGrant,
    limits: Limits,
    own: number | undefined,
    amount: number,
  ): Wanted[] {
    const space = limits.space && own ? Math.min(limits.space, own) : limits.space || own || 0
    const all = [
      { scope: 'tenant', subject: '', max: limits.tenant },
      { scope: 'space', subject: grant.spaceId, max: space },
      { scope: 'user', subject: grant.userId, max: limits.user },
    ]
    return all
      .filter(({ max }) => max > 0)
      .map(({ scope, subject, max }) => ({ counts, scope, subject, max, amount, tenantId: grant.tenantId }))
  }

  async #takeAll(wanted: readonly Wanted[]): Promise<Admission> {
    const taken: Taken[] = []
    const end = async (tokens: number) => {
      const ended = taken.splice(0).map(({ allowance, amount, counts }) =>
        // What cannot be told now is told at the next settling; the caller has the answer already.
        Promise.resolve(allowance.end(amount, counts === 'tokens' ? tokens : 0)).catch(this.#onError),
      )
      await Promise.all(ended)
    }
    try {
      for (const one of wanted) {
        const period = one.counts === 'tokens' ? new Date().toISOString().slice(0, 10) : NO_PERIOD
        const key = { tenantId: one.tenantId, budget: `${one.counts}:${one.scope}`, subject: one.subject, period }
        const allowance = this.#allowanceOf(key, one.max)
        const amount = await allowance.take(one.amount)
        if (amount === 0) throw await this.#refusal(one, key)
        taken.push({ allowance, amount, counts: one.counts })
      }
    } catch (error) {
      await end(0)
      throw error
    }
    return { end }
  }

  async #refusal({ counts, scope, max }: Wanted, key: AllowanceKey): Promise<Problem> {
    if (counts === 'completions') return tooMany(scope, max)
    return (await spentOf(this.#system, key)) < max ? setAside(scope, max) : usedUp(scope, max)
  }

  #allowanceOf(key: AllowanceKey, max: number): Allowance {
    const name = `${key.tenantId} ${key.budget} ${key.subject} ${key.period} ${max}`
    const known = this.#allowances.get(name)
    if (known) return known
    const lease = (change: { spent: number; released: number; wanted: number }) =>
      takeAllowance(this.#system, key, this.#replicaId, { ...change, max })
    const allowance = new Allowance(lease, portionOf(key.budget, max))
    this.#allowances.set(name, allowance)
    return allowance
  }

  /** What stands unused for a second goes back, so that other processes can have it. */
  async #settle(): Promise<void> {
    for (const [name, allowance] of this.#allowances) {
      if (allowance.isIdle) this.#allowances.delete(name)
      else await allowance.settle(0).catch(this.#onError)
    }
  }
}

/** A day's tokens are many and calls take hundreds of them, so there the bound below which each one is told is higher. */
function portionOf(budget: string, max: number): number {
  const portion = Math.floor(max / PORTIONS)
  return budget.startsWith('tokens') && portion < 1_000 ? 0 : portion
}

const WHOSE: Readonly<Record<string, string>> = { tenant: 'your tenant', space: 'this space', user: 'you' }

function tooMany(scope: string, max: number): Problem {
  const message = `The limit of ${max} completions at one time for ${WHOSE[scope]} is reached: it frees when one of them ends`
  return new Problem('budget_exceeded', message, { param: `concurrent_completions.${scope}`, retryAfterSeconds: 1 })
}

function setAside(scope: string, max: number): Problem {
  const message = `What is left of the budget of ${max} tokens a day for ${WHOSE[scope]} is set aside for completions that are running: try again when one of them ends`
  return new Problem('budget_exceeded', message, { param: `tokens_per_day.${scope}`, retryAfterSeconds: 1 })
}

function usedUp(scope: string, max: number): Problem {
  const now = Date.now()
  const resets = new Date(now)
  resets.setUTCHours(24, 0, 0, 0)
  const message = `The budget of ${max} tokens a day for ${WHOSE[scope]} is used up: it resets at ${resets.toISOString()}`
  const retryAfterSeconds = Math.ceil((resets.getTime() - now) / 1000)
  return new Problem('budget_exceeded', message, { param: `tokens_per_day.${scope}`, retryAfterSeconds })
}
