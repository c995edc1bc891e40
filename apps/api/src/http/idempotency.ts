// Idempotency-Key (contract 4.0): a repeated POST is answered with the first answer, and nothing ever runs twice.
import { hash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { Problem } from '../base/problem.ts'
import type { Services } from '../contract/context.ts'
import { EventStream, type Operation } from '../contract/operation.ts'
import { keepAnswer, releaseKey, takeKey } from '../storage/idempotency.ts'
import type { Entry } from './door.ts'
import { bodyOf, toProblem } from './errors.ts'

export interface KeptAnswer {
  readonly status: number
  readonly body: unknown
}

interface Asked {
  readonly key: string
  readonly operation: Operation
  readonly request: FastifyRequest
  readonly entry: Entry
}

const KEY_SHAPE = /^[\x21-\x7e]{1,255}$/
const NOTE_AGAIN_AFTER_MS = [200, 1_000, 5_000, 30_000]

export function keyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !KEY_SHAPE.test(header)) {
    const message = 'Idempotency-Key must be 1 to 255 printable characters without spaces'
    throw new Problem('invalid_request', message, { param: 'Idempotency-Key' })
  }
  return header
}

/** Runs the request once and keeps what it came to; a repeat gets that instead. Answers that invite a retry are not kept. */
export async function once(
  services: Services,
  { key, operation, request, entry }: Asked,
  run: () => Promise<unknown>,
): Promise<{ replayed: KeptAnswer } | { value: unknown }> {
  const { db, vault, replica } = services
  const { grant, caller, onlySpace } = entry
  const place = {
    tenantId: grant.tenantId,
    table: 'idempotency_keys',
    id: `${grant.userId}:${key}`,
    column: 'sealed_body',
  }
  // The space it is narrowed to and the API key it comes with do not show in its address.
  const asked = [request.url, request.body, onlySpace, caller.keyId]
  const digest = hash('sha256', JSON.stringify(asked), 'base64')
  const taken = await db.as(grant, (sql) =>
    takeKey(sql, grant, { key, operation: operation.id, hash: digest, replicaId: replica.id }),
  )
  if (typeof taken !== 'string') {
    if (taken.operation !== operation.id || taken.request_hash !== digest) {
      throw new Problem('idempotency_key_reused', 'This Idempotency-Key was used for another request')
    }
    if (taken.sealed_body !== undefined && taken.status !== undefined) {
      return { replayed: { status: taken.status, body: JSON.parse(vault.open(taken.sealed_body, place)) } }
    }
    if (taken.alive) {
      const message = 'The first request with this Idempotency-Key is still running'
      throw new Problem('idempotency_in_progress', message, { retryAfterSeconds: 1 })
    }
    const message =
      'The first request with this Idempotency-Key was interrupted: look whether it took effect, then use a new key'
    throw new Problem('idempotency_outcome_unknown', message)
  }

  const keep = (status: number, body: unknown) => {
    const sealed = vault.seal(JSON.stringify(body ?? null), place)
    return db.as(grant, (sql) => keepAnswer(sql, grant, key, taken, status, sealed))
  }
  const release = () => db.as(grant, (sql) => releaseKey(sql, grant, key, taken))
  const giveUp = (err: unknown) =>
    request.log.error(
      { reqId: grant.requestId, err },
      'what an Idempotency-Key came to could not be noted: its repeats are refused',
    )
  let value: unknown
  try {
    value = await run()
  } catch (error) {
    const problem = toProblem(error as Error)
    const isFinal = problem.status < 500 && problem.retryAfterSeconds === undefined
    await noted(isFinal ? () => keep(problem.status, bodyOf(problem, grant.requestId)) : release, giveUp)
    throw error
  }
  // A stream cannot be told twice: its repeat is another request.
  await noted(value instanceof EventStream ? release : () => keep(operation.status, value), giveUp)
  return { value }
}

/**
 * The request has come to its end, and its answer is due whether or not the database is there to note it. What cannot be
 * noted now is tried again for a while; until it is, a repeat is refused and still nothing runs twice.
 */
async function noted(note: () => Promise<void>, giveUp: (error: unknown) => void): Promise<void> {
  const again = async (failed: unknown) => {
    let error = failed
    for (const pauseMs of NOTE_AGAIN_AFTER_MS) {
      await delay(pauseMs, undefined, { ref: false })
      try {
        return await note()
      } catch (next) {
        error = next
      }
    }
    giveUp(error)
  }
  await note().catch((error) => void again(error))
}
