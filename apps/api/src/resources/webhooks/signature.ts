// Verifies a signature by the Standard Webhooks scheme (contract 6.1).
import { createHmac, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../base/problem.ts'
import type { Secret } from '../../base/secret.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Clocks differ, and mails take their time; what is older was recorded and is being replayed. */
const TOLERANCE_SECONDS = 300
const SECRET_MARK = 'whsec_'

export const isSigned = (headers: Headers): boolean => headers['webhook-signature'] !== undefined

/** Tells when it was signed. */
export function verifySignature(secret: Secret, headers: Headers, text: string, nowMs = Date.now()): string {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const given = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string') {
    throw refused('webhook-id, webhook-timestamp and webhook-signature go together, each once')
  }
  if (!/^\d{1,12}$/.test(timestamp)) throw refused('webhook-timestamp must be in seconds since 1970')
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw refused('webhook-timestamp is more than five minutes from now')
  }
  const key = Buffer.from(secret.reveal().slice(SECRET_MARK.length), 'base64')
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest()
  const fits = given.split(' ').some((entry) => {
    const [version, signature = ''] = entry.split(',')
    const bytes = Buffer.from(signature, 'base64')
    return version === 'v1' && bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
  })
  if (!fits) throw refused('The signature does not fit the body')
  return new Date(Number(timestamp) * 1000).toISOString()
}

const refused = (message: string) => new Problem('unauthenticated', message)
