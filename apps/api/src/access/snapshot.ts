// Every tenant's live seats and API keys in memory, as of one epoch: what permission checks are decided from.
import { type KeyRow, LiveKeys } from './snapshot-keys.ts'

export interface LiveSeat {
  readonly tenantId: string
  readonly id: string
  readonly name: string
  readonly permissions: ReadonlySet<string>
  readonly spaces: ReadonlySet<string>
}

export interface SeatRow {
  readonly tenant_id: string
  readonly id: string
  readonly name: string
  readonly permissions: readonly string[]
  readonly spaces: readonly string[]
}

/** What happened to access between two epochs. A changed seat that has no row was deleted. */
export interface Changes {
  readonly epoch: number
  /** True when `seats` is everything there is, not just what changed. */
  readonly whole: boolean
  readonly changedSeats: readonly string[]
  readonly seats: readonly SeatRow[]
  readonly endedLogins: readonly { readonly id: string; readonly until: number }[]
  /** As with seats: a changed key that has no row was deleted. */
  readonly changedKeys: readonly string[]
  readonly keys: readonly KeyRow[]
}

export class Snapshot {
  epoch = -1
  readonly keys = new LiveKeys()
  readonly #byName = new Map<string, Map<string, LiveSeat>>()
  readonly #byId = new Map<string, LiveSeat>()
  readonly #endedLogins = new Map<string, number>()

  /** Runs to its end without yielding, so no check ever sees half a change. */
  apply(changes: Changes): void {
    if (changes.epoch < this.epoch) return
    if (changes.whole) {
      this.#byName.clear()
      this.#byId.clear()
      this.keys.clear()
    }
    for (const id of changes.changedSeats) this.#forget(id)
    for (const row of changes.seats) this.#learn(row)
    for (const id of changes.changedKeys) this.keys.forget(id)
    for (const row of changes.keys) this.keys.learn(row)
    for (const { id, until } of changes.endedLogins) this.#endedLogins.set(id, until)
    this.epoch = changes.epoch
  }

  seat(tenantId: string, name: string): LiveSeat | undefined {
    return this.#byName.get(tenantId)?.get(name)
  }

  seatById(tenantId: string, id: string): LiveSeat | undefined {
    const seat = this.#byId.get(id)
    return seat?.tenantId === tenantId ? seat : undefined
  }

  seatsOf(tenantId: string): Iterable<LiveSeat> {
    return this.#byName.get(tenantId)?.values() ?? []
  }

  hasEnded(loginId: string): boolean {
    return this.#endedLogins.has(loginId)
  }

  /** An ended login matters only while a token of it could still be valid. */
  sweep(nowSeconds: number): void {
    for (const [id, until] of this.#endedLogins) if (until < nowSeconds) this.#endedLogins.delete(id)
  }

  #forget(id: string): void {
    const seat = this.#byId.get(id)
    if (!seat) return
    this.#byId.delete(id)
    const names = this.#byName.get(seat.tenantId)
    // Its name may belong to another seat by now: a rename and a new seat can arrive in one batch.
    if (names?.get(seat.name)?.id === id) names.delete(seat.name)
  }

  #learn(row: SeatRow): void {
    this.#forget(row.id)
    const seat: LiveSeat = {
      tenantId: row.tenant_id,
      id: row.id,
      name: row.name,
      permissions: new Set(row.permissions),
      spaces: new Set(row.spaces),
    }
    const names = this.#byName.get(seat.tenantId) ?? new Map<string, LiveSeat>()
    names.set(seat.name, seat)
    this.#byName.set(seat.tenantId, names)
    this.#byId.set(seat.id, seat)
  }
}
