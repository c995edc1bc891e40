// The API keys in the access snapshot, each with what it may do right now (contract 5.7).
import type { Caller } from './caller.ts'

export interface KeyRow {
  readonly tenant_id: string
  readonly id: string
  readonly user_id: string
  readonly hash: string
  readonly seats: readonly string[]
  /** The seat names that the key's maker bears now. */
  readonly maker_seats: readonly string[]
  /** Seconds since 1970, where the key expires. */
  readonly expires_at: number | null
}

interface LiveKey {
  readonly hash: string
  readonly caller: Caller
}

export class LiveKeys {
  readonly #byHash = new Map<string, LiveKey>()
  readonly #byId = new Map<string, LiveKey>()

  /** Whoever sends the key with this digest; whether it has expired is for the asker to look at. */
  findCaller(hash: string): Caller | undefined {
    return this.#byHash.get(hash)?.caller
  }

  findById(id: string): Caller | undefined {
    return this.#byId.get(id)?.caller
  }

  isLive(id: string): boolean {
    return this.#byId.has(id)
  }

  learn(row: KeyRow): void {
    this.forget(row.id)
    const key: LiveKey = { hash: row.hash, caller: toCaller(row) }
    this.#byHash.set(key.hash, key)
    this.#byId.set(row.id, key)
  }

  forget(id: string): void {
    const key = this.#byId.get(id)
    if (!key) return
    this.#byId.delete(id)
    this.#byHash.delete(key.hash)
  }

  clear(): void {
    this.#byHash.clear()
    this.#byId.clear()
  }
}

/** A key acts as its maker, with those of its seats that the maker still bears; the live seats say where they reach. */
function toCaller(row: KeyRow): Caller {
  const borne = new Set(row.maker_seats)
  return {
    tenantId: row.tenant_id,
    userId: row.user_id,
    email: undefined,
    name: undefined,
    sso: false,
    loginId: undefined,
    keyId: row.id,
    expiresAt: row.expires_at ?? Number.POSITIVE_INFINITY,
    seatNames: row.seats.filter((name) => borne.has(name)),
    namesBySpace: undefined,
  }
}
