// The keys that sign the service's tokens: kept sealed in the database, rotated with overlap, published as a JWKS.
import { setTimeout as delay } from 'node:timers/promises'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import type { Vault } from '../base/vault.ts'
import type { Client } from '../storage/sql.ts'
import * as store from './signing-keys-store.ts'

const ALGORITHM = 'ES256'
const ROTATE_AFTER_MS = 30 * 24 * 3600_000
/** A retired key is published for this long after its successor, far longer than any token lives. */
const OVERLAP_MS = 2 * 24 * 3600_000
const RELOAD_AT_MOST_EVERY_MS = 1000

interface SigningKey {
  readonly id: string
  readonly publicJwk: JWK
  readonly publicKey: CryptoKey
  readonly privateKey: CryptoKey
  readonly createdAt: number
}

export class SigningKeys {
  readonly #system: Client
  readonly #vault: Vault
  #keys: readonly SigningKey[] = []
  #loadedAt = 0
  #loading: Promise<void> | undefined
  #reloading: Promise<void> | undefined

  constructor(system: Client, vault: Vault) {
    this.#system = system
    this.#vault = vault
  }

  async start(): Promise<void> {
    await this.#load()
    await this.rotateWhenDue()
  }

  /** The newest key. Replicas that do not know it yet read it when they first meet its id. */
  get current(): SigningKey {
    const [newest] = this.#keys
    if (!newest) throw new Error('There is no signing key; was start() awaited?')
    return newest
  }

  get published(): { keys: JWK[] } {
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) }
  }

  /** A key that another process has just made is found too; whoever asks for one that is not there may wait a moment. */
  async find(id: string): Promise<SigningKey | undefined> {
    if (!this.#known(id)) await this.#loading
    if (!this.#known(id)) await this.#reload()
    return this.#known(id)
  }

  async rotateWhenDue(nowMs = Date.now()): Promise<void> {
    const newest = this.#keys[0]
    if (newest && nowMs - newest.createdAt < ROTATE_AFTER_MS) return
    await this.rotate()
  }

  async rotate(): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    const bare = await exportJWK(publicKey)
    const id = await calculateJwkThumbprint(bare)
    const sealed = this.#vault.seal(JSON.stringify(await exportJWK(privateKey)), placeOf(id))
    const publicJwk = { ...bare, kid: id, alg: ALGORITHM, use: 'sig' }
    await store.insertKey(this.#system, { id, public_jwk: publicJwk, sealed_private_jwk: sealed })
    await store.dropKeys(this.#system, new Date(Date.now() - ROTATE_AFTER_MS - OVERLAP_MS))
    await this.#load()
  }

  #known(id: string): SigningKey | undefined {
    return this.#keys.find((key) => key.id === id)
  }

  /** Shared by all who wait for it, and at most once a second: anybody can make up an id. */
  #reload(): Promise<void> {
    this.#reloading ??= delay(Math.max(0, this.#loadedAt + RELOAD_AT_MOST_EVERY_MS - Date.now())).then(() => {
      // What is asked from here on may be too new for this reading.
      this.#reloading = undefined
      return this.#load()
    })
    return this.#reloading
  }

  #load(): Promise<void> {
    this.#loadedAt = Date.now()
    const loading = this.#read().finally(() => {
      if (this.#loading === loading) this.#loading = undefined
    })
    this.#loading = loading
    return loading
  }

  async #read(): Promise<void> {
    const rows = await store.readKeys(this.#system)
    this.#keys = await Promise.all(
      rows.map(async (row): Promise<SigningKey> => {
        const privateJwk = JSON.parse(this.#open(row)) as JWK
        return {
          id: row.id,
          publicJwk: row.public_jwk,
          publicKey: (await importJWK(row.public_jwk, ALGORITHM)) as CryptoKey,
          privateKey: (await importJWK(privateJwk, ALGORITHM)) as CryptoKey,
          createdAt: Date.parse(row.created_at),
        }
      }),
    )
  }

  #open(row: store.KeyRow): string {
    try {
      return this.#vault.open(row.sealed_private_jwk, placeOf(row.id))
    } catch (cause) {
      throw new Error('SECRETS_KEY is not the one this database was set up with', { cause })
    }
  }
}

const placeOf = (id: string) => ({ tenantId: '', table: 'signing_keys', id, column: 'sealed_private_jwk' })
