// Seals what must not be readable at rest: a fresh data key per record, wrapped by the service's key (contract 5.3).
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { Secret } from './secret.ts'

/** Where a sealed value lives. A value moved to another row, column or tenant does not open. */
export interface Place {
  readonly tenantId: string
  readonly table: string
  readonly id: string
  readonly column: string
}

export interface Vault {
  seal(plain: string, place: Place): string
  open(sealed: string, place: Place): string
}

const VERSION = 'v1'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16

export function openVault(secretsKey: Secret): Vault {
  const master = createHash('sha256').update(secretsKey.reveal()).digest()
  return {
    seal(plain, place) {
      const dataKey = randomBytes(KEY_BYTES)
      const bound = bind(place)
      const wrapped = encrypt(master, dataKey, bound)
      const sealed = encrypt(dataKey, Buffer.from(plain, 'utf8'), bound)
      return [VERSION, wrapped.toString('base64url'), sealed.toString('base64url')].join('.')
    },
    open(sealed, place) {
      const [version, wrapped, body] = sealed.split('.')
      if (version !== VERSION || !wrapped || !body) throw new Error(`Unreadable sealed value in ${place.table}`)
      const bound = bind(place)
      const dataKey = decrypt(master, Buffer.from(wrapped, 'base64url'), bound)
      return decrypt(dataKey, Buffer.from(body, 'base64url'), bound).toString('utf8')
    },
  }
}

const bind = ({ tenantId, table, id, column }: Place) => Buffer.from(JSON.stringify([tenantId, table, id, column]))

function encrypt(key: Buffer, plain: Buffer, bound: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bound)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

function decrypt(key: Buffer, sealed: Buffer, bound: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(bound).setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
}
