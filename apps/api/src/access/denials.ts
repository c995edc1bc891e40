// Refusals for the audit log: gathered for a moment and written together, so that a flood of them costs the database little.

import { isId, newId } from '../base/ids.ts'
import type { Problem } from '../base/problem.ts'
import type { Client } from '../storage/sql.ts'
import type { Caller } from './caller.ts'
import { type Denial, insertDenials } from './denials-store.ts'

const FLUSH_EVERY_MS = 1000
/** Beyond this many in one moment the rest is only counted: whoever floods us must not fill the disk. */
const KEPT_PER_FLUSH = 500

export class Denials {
  readonly #system: Client
  readonly #onError: (error: unknown) => void
  #pending: Denial[] = []
  #dropped = 0
  #timer: NodeJS.Timeout | undefined

  constructor(system: Client, onError: (error: unknown) => void) {
    this.#system = system
    this.#onError = onError
  }

  add(caller: Caller, action: string, resource: string, problem: Problem, requestId: string): void {
    if (this.#pending.length >= KEPT_PER_FLUSH) {
      this.#dropped++
      return
    }
    const { space, permission = '', seats = [] } = problem.access ?? {}
    // What cannot name a space cannot be stored as one, and would take the others along.
    const isSpace = space !== undefined && isId(space)
    this.#pending.push({
      tenant_id: caller.tenantId,
      id: newId(),
      actor: caller.userId,
      action,
      resource,
      spaces: isSpace ? [space] : [],
      after: { permission, seats, code: problem.code },
      request_id: requestId,
    })
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_EVERY_MS).unref()
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const denials = this.#pending
    this.#pending = []
    if (this.#dropped > 0) this.#onError(new Error(`${this.#dropped} refusals were too many to keep`))
    this.#dropped = 0
    if (denials.length === 0) return
    await insertDenials(this.#system, denials).catch(this.#onError)
  }
}
