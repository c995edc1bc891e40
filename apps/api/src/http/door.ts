// The door (contract 4.0): token (401), rate (429), space (400), permission (403), in this order and before a body is read.
import { digestOf, isKey, type KeyUses } from '../access/api-keys.ts'
import { admit, authorizeInSpace, authorizeInTenant, authorizeOnSpace } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import type { Replica } from '../access/replica.ts'
import type { Tokens } from '../access/tokens.ts'
import type { Grant } from '../base/grant.ts'
import { Problem } from '../base/problem.ts'
import type { Operation } from '../contract/operation.ts'
import { spaceNamed } from './addresses.ts'
import type { RateLimit } from './rate-limit.ts'

export interface Knock {
  readonly authorization: string | undefined
  readonly spaceInPath: string | undefined
  readonly spaceInHeader: string | undefined
  readonly requestId: string
}

export interface Entry {
  readonly caller: Caller
  readonly grant: Grant
  readonly onlySpace: string | undefined
}

export interface DoorOptions {
  /** Those that the operator lists: one that is taken off the list is let in no more, whatever it still holds. */
  readonly tenants: ReadonlySet<string>
  readonly replica: Replica
  readonly tokens: Tokens
  readonly keyUses: KeyUses
  readonly perUser: RateLimit
  readonly perTenant: RateLimit
  readonly onDenial: (caller: Caller, operation: Operation, problem: Problem, requestId: string) => void
}

export class Door {
  readonly #options: DoorOptions
  constructor(options: DoorOptions) {
    this.#options = options
  }

  /** Answers at once, without a promise, when the token is known and the lease runs: that is nearly always. */
  enter(operation: Operation, knock: Knock): Entry | Promise<Entry> {
    const { replica, tokens } = this.#options
    const token = bearerOf(knock.authorization)
    if (isKey(token)) return this.#enterWithKey(operation, knock, token)
    const caller = tokens.remembered(token)
    if (caller && replica.isCurrent) return this.#admit(operation, knock, caller)
    return this.#enterSlowly(operation, knock, token)
  }

  async #enterSlowly(operation: Operation, knock: Knock, token: string): Promise<Entry> {
    const { replica, tokens } = this.#options
    const caller = tokens.remembered(token) ?? (await tokens.verify(token))
    await replica.makeCurrent()
    return this.#admit(operation, knock, caller)
  }

  /** A key is looked up each time and never remembered: what it may do changes with its maker's seats. */
  #enterWithKey(operation: Operation, knock: Knock, key: string): Entry | Promise<Entry> {
    const { replica, keyUses } = this.#options
    const enter = () => {
      const caller = replica.snapshot.keys.findCaller(digestOf(key))
      if (!caller?.keyId) throw new Problem('unauthenticated', 'There is no such API key, or it was deleted')
      if (caller.expiresAt * 1000 <= Date.now()) throw new Problem('token_expired', 'This API key has expired')
      keyUses.note(caller.tenantId, caller.keyId)
      return this.#admit(operation, knock, caller)
    }
    return replica.isCurrent ? enter() : replica.makeCurrent().then(enter)
  }

  #admit(operation: Operation, knock: Knock, caller: Caller): Entry {
    const { replica, tenants, perUser, perTenant } = this.#options
    const { loginId } = caller
    if (!tenants.has(caller.tenantId)) throw new Problem('unauthenticated', 'This tenant is not served here any more')
    if (loginId !== undefined && replica.snapshot.hasEnded(loginId))
      throw new Problem('unauthenticated', 'This login was ended')
    perUser.take(`${caller.tenantId}:${caller.userId}`)
    perTenant.take(caller.tenantId)
    try {
      return this.#decide(operation, knock, caller)
    } catch (error) {
      this.note(operation, caller, error, knock.requestId)
      throw error
    }
  }

  /** Refusals are kept for the audit log, wherever they are made: some need to know what is asked for. */
  note(operation: Operation, caller: Caller, error: unknown, requestId: string): void {
    const isDenial = error instanceof Problem && (error.code === 'forbidden' || error.code === 'escalation')
    if (isDenial) this.#options.onDenial(caller, operation, error, requestId)
  }

  #decide(operation: Operation, knock: Knock, caller: Caller): Entry {
    const { snapshot } = this.#options.replica
    const { permission = '' } = operation
    const { requestId } = knock
    const onlySpace = spaceNamed(knock.spaceInPath, knock.spaceInHeader)
    switch (operation.scope) {
      case 'space': {
        if (!onlySpace) throw new Problem('space_required', 'Name a space: use the address /v1/spaces/{spaceId}/…')
        return { caller, onlySpace, grant: authorizeInSpace(snapshot, caller, onlySpace, permission, requestId) }
      }
      case 'own-space':
        return { caller, onlySpace, grant: authorizeOnSpace(snapshot, caller, onlySpace!, permission, requestId) }
      case 'tenant':
        return { caller, onlySpace, grant: authorizeInTenant(snapshot, caller, onlySpace, permission, requestId) }
      default:
        return { caller, onlySpace, grant: admit(caller, requestId) }
    }
  }
}

const SCHEME = /^Bearer +/i

function bearerOf(authorization: string | undefined): string {
  if (!authorization) throw new Problem('unauthenticated', 'Send a token: Authorization: Bearer <ACCESS_TOKEN>')
  const scheme = SCHEME.exec(authorization)?.[0] ?? ''
  const token = authorization.slice(scheme.length)
  if (scheme === '' || token === '' || token.includes(' '))
    throw new Problem('unauthenticated', 'The Authorization header is not of the form Bearer <ACCESS_TOKEN>')
  return token
}
