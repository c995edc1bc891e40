// Logins under way (contract 5.1): random, kept hashed, good for one callback on any replica, for ten minutes.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Vault } from '../../base/vault.ts'
import type { Client } from '../../storage/sql.ts'
import type { LoginSecrets } from './provider.ts'
import { insertState, takeState } from './states-store.ts'

export const STATE_LIFETIME_SECONDS = 600

export interface OpenedState {
  readonly state: string
  /** Goes into a cookie of the browser that began: the one that must come back. */
  readonly binding: string
}

export interface RedeemedState {
  readonly tenantId: string
  readonly expired: boolean
  readonly secrets: LoginSecrets
  isBoundTo(binding: string): boolean
}

export class LoginStates {
  readonly #system: Client
  readonly #vault: Vault

  constructor(system: Client, vault: Vault) {
    this.#system = system
    this.#vault = vault
  }

  async keep(tenantId: string, { state, nonce, verifier }: LoginSecrets): Promise<OpenedState> {
    const binding = randomText()
    const key = digest(state)
    const sealed = this.#vault.seal(JSON.stringify([nonce, verifier]), placeOf(tenantId, key))
    const row = { hash: key, tenant_id: tenantId, sealed, binding_hash: digest(binding) }
    await insertState(this.#system, row, STATE_LIFETIME_SECONDS)
    return { state, binding }
  }

  async redeem(state: string): Promise<RedeemedState | undefined> {
    const key = digest(state)
    const row = await takeState(this.#system, key)
    if (!row) return undefined
    const { tenant_id: tenantId, sealed, binding_hash, expired } = row
    const [nonce, verifier] = JSON.parse(this.#vault.open(sealed, placeOf(tenantId, key))) as [string, string]
    return {
      tenantId,
      expired,
      secrets: { state, nonce, verifier },
      isBoundTo: (binding) => timingSafeEqual(Buffer.from(digest(binding)), Buffer.from(binding_hash)),
    }
  }
}

/** 256 bits. */
export const randomText = () => randomBytes(32).toString('base64url')
const digest = (text: string) => hash('sha256', text, 'base64url')
const placeOf = (tenantId: string, id: string) => ({ tenantId, table: 'login_states', id, column: 'sealed' })
