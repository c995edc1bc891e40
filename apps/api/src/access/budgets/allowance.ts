// One process's part of a limit that all processes share: taken in portions, so that most calls need no word with the database.

/** Sets aside up to `wanted`, after writing down what was spent and what is given back. */
export type Lease = (change: { spent: number; released: number; wanted: number }) => Promise<number>

export class Allowance {
  readonly #lease: Lease
  readonly #portion: number
  /** Set aside and not in use. Below zero when calls took more than was set aside for them. */
  #free = 0
  #inUse = 0
  /** Spent and not yet written down. */
  #unsaid = 0
  #turn: Promise<unknown> = Promise.resolve()
  /** Words with the database that are begun or wait for their turn. */
  #pending = 0

  /** What is free beyond a portion goes back at once; a portion of 0 makes the limit exact at every moment. */
  constructor(lease: Lease, portion: number) {
    this.#lease = lease
    this.#portion = portion
  }

  get isIdle(): boolean {
    return this.#pending === 0 && this.#inUse === 0 && this.#free === 0 && this.#unsaid === 0
  }

  /** Sets aside up to `wanted`, and tells how much that was; 0 means that the limit is reached. */
  take(wanted: number): number | Promise<number> {
    return this.#free >= wanted ? this.#use(wanted) : this.#inTurn(() => this.#takeSlowly(wanted))
  }

  /** Ends one use: `spent` of what was taken is gone for good, the rest is free again. */
  end(taken: number, spent: number): void | Promise<void> {
    this.#inUse -= taken
    this.#free += taken - spent
    this.#unsaid += spent
    if (this.#portion === 0 || this.#free > 2 * this.#portion) return this.settle(this.#portion)
  }

  /** Writes down what was spent, and gives back what is free beyond `keep`. */
  settle(keep: number): Promise<void> {
    return this.#inTurn(async () => {
      await this.#tell(Math.max(0, this.#free - keep), 0)
    })
  }

  async #takeSlowly(wanted: number): Promise<number> {
    // A call before this one may have brought enough.
    if (this.#free < wanted) this.#free += await this.#tell(0, wanted - this.#free + this.#portion)
    return this.#use(Math.max(0, Math.min(wanted, this.#free)))
  }

  async #tell(released: number, wanted: number): Promise<number> {
    const spent = this.#unsaid
    if (spent === 0 && released === 0 && wanted === 0) return 0
    // What calls took beyond what was set aside for them was never held, so it cannot be given back.
    const debt = Math.max(0, -this.#free)
    this.#unsaid -= spent
    this.#free += debt - released
    try {
      return await this.#lease({ spent, released: released + spent - debt, wanted: wanted === 0 ? 0 : wanted - debt })
    } catch (error) {
      this.#unsaid += spent
      this.#free += released - debt
      throw error
    }
  }

  #use(amount: number): number {
    this.#free -= amount
    this.#inUse += amount
    return amount
  }

  /** One after the other, so that two calls do not both fetch a portion. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#pending++
    const mine = this.#turn.then(work).finally(() => {
      this.#pending--
    })
    this.#turn = mine.catch(() => {})
    return mine
  }
}
