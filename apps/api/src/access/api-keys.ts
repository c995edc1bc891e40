// API keys (contract 5.7): how they look, and how their uses are noted without slowing anybody down.
import { hash, randomBytes } from 'node:crypto'
import type { Client } from '../storage/sql.ts'
import { type KeyUse, saveUses } from './api-keys-store.ts'

const MARK = 'amphi_'
/** Enough to tell keys apart, far too little to guess one. */
const PREFIX_LENGTH = MARK.length + 6

export function newKey(): { key: string; prefix: string; hash: string } {
  const key = MARK + randomBytes(32).toString('base64url')
  return { key, prefix: key.slice(0, PREFIX_LENGTH), hash: digestOf(key) }
}

export const isKey = (bearer: string): boolean => bearer.startsWith(MARK)

/** A key is random enough that a plain digest keeps it; what is compared is never the key. */
export const digestOf = (key: string): string => hash('sha256', key, 'base64url')

const NOTED_EVERY_MS = 60_000
const FLUSH_AFTER_MS = 1000

/** When each key was last used, to the minute; written together and behind the requests' backs. */
export class KeyUses {
  readonly #system: Client
  readonly #onError: (error: unknown) => void
  readonly #notedAt = new Map<string, number>()
  #pending: KeyUse[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(system: Client, onError: (error: unknown) => void) {
    this.#system = system
    this.#onError = onError
  }

  note(tenantId: string, keyId: string, nowMs = Date.now()): void {
    if (nowMs - (this.#notedAt.get(keyId) ?? 0) < NOTED_EVERY_MS) return
    this.#notedAt.set(keyId, nowMs)
    this.#pending.push({ tenantId, keyId, at: new Date(nowMs) })
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_AFTER_MS).unref()
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const uses = this.#pending
    this.#pending = []
    if (uses.length > 0) await saveUses(this.#system, uses).catch(this.#onError)
    // What is forgotten is at worst noted once more within its minute.
    if (this.#notedAt.size > 10_000) this.#notedAt.clear()
  }
}
