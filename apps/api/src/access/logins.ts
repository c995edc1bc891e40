// What a login leaves behind and gives (contract 5.3): the person's record, the seat names borne, and tokens until it ends.
import type { Grant } from '../base/grant.ts'
import { newId } from '../base/ids.ts'
import { Problem } from '../base/problem.ts'
import { audit } from '../storage/audit.ts'
import type { Database } from '../storage/database.ts'
import type { Sql } from '../storage/sql.ts'
import type { Caller } from './caller.ts'
import * as store from './logins-store.ts'
import type { ProvidedPerson } from './oidc/claims.ts'
import type { Replica } from './replica.ts'
import type { IssuedToken, Tokens } from './tokens.ts'

const LOGIN_SECONDS = 12 * 3600

/** Thrown to undo a plain transaction that turns out to concern the access snapshot. */
const CONCERNS_KEYS = new Error('This login changes what API keys may do')

export class Logins {
  readonly #db: Database
  readonly #replica: Replica
  readonly #tokens: Tokens

  constructor(db: Database, replica: Replica, tokens: Tokens) {
    this.#db = db
    this.#replica = replica
    this.#tokens = tokens
  }

  /** Begins a login for somebody the tenant's identity provider has vouched for. */
  async admit(tenantId: string, person: ProvidedPerson, requestId: string): Promise<IssuedToken> {
    const grant = { tenantId, userId: person.userId, requestId } as Grant
    const loginId = newId()
    const times = { loginSeconds: LOGIN_SECONDS, tokenSeconds: this.#tokens.lifetimeSeconds }
    await this.#replica.makeCurrent()
    return this.#record(grant, async (sql) => {
      await store.saveProvidedPerson(sql, grant, person)
      const changed = await store.replaceMemberships(
        sql,
        grant,
        person.groups,
        invitable(person.email, person.emailVerified),
      )
      await store.insertLogin(sql, grant, loginId, times)
      const after = { groups: person.groups }
      await audit(sql, grant, { action: 'auth.login', resource: 'auth', resourceId: loginId, spaces: [], after })
      return { changed, value: await this.#issue(sql, grant, loginId, person) }
    })
  }

  /** A new token of the same login: the groups stored at the login, the invitations and the seats as they are now. */
  async refresh(grant: Grant, caller: Caller): Promise<IssuedToken> {
    const loginId = loginOf(caller, 'refresh')
    return this.#record(grant, async (sql) => {
      if (!(await store.prolongLogin(sql, grant, loginId, this.#tokens.lifetimeSeconds))) {
        throw new Problem('unauthenticated', 'This login was ended or is older than 12 hours: sign in again')
      }
      const person = await store.lockPerson(sql, grant)
      const email = invitable(person?.email, person?.email_verified)
      const changed = await store.replaceMemberships(sql, grant, undefined, email)
      return { changed, value: await this.#issue(sql, grant, loginId, { email: person?.email, name: caller.name }) }
    })
  }

  /** Every token of the login is void on every replica when this returns. */
  async end(grant: Grant, caller: Caller): Promise<void> {
    const loginId = loginOf(caller, 'end')
    await this.#replica.change(grant, async (sql, _snapshot, touch) => {
      await store.endLogin(sql, grant, loginId)
      await audit(sql, grant, { action: 'auth.logout', resource: 'auth', resourceId: loginId, spaces: [] })
      touch('login', loginId)
    })
  }

  async #issue(
    sql: Sql,
    grant: Grant,
    loginId: string,
    { email, name }: { readonly email?: string | undefined; readonly name?: string | undefined },
  ): Promise<IssuedToken> {
    const { tenantId, userId } = grant
    const { snapshot } = this.#replica
    const names = await store.readSeatNames(sql, grant)
    const hashPerm = names.flatMap((seat) =>
      [...(snapshot.seat(tenantId, seat)?.spaces ?? [])].map((space) => `${space}:${seat}`),
    )
    return this.#tokens.issue({ tenantId, userId, email, name, loginId, hashPerm })
  }

  /**
   * Seat names matter to the access snapshot only through API keys. So nearly every login is a plain transaction, and
   * only one that changes what its person's keys may do is a change of access, which every replica takes in first.
   */
  async #record<T>(grant: Grant, work: (sql: Sql) => Promise<{ changed: boolean; value: T }>): Promise<T> {
    try {
      return await this.#db.begin(grant, async (sql) => {
        const { changed, value } = await work(sql)
        if (changed && (await store.hasKeys(sql, grant))) throw CONCERNS_KEYS
        return value
      })
    } catch (error) {
      if (error !== CONCERNS_KEYS) throw error
    }
    return this.#replica.change(grant, async (sql, _snapshot, touch) => {
      touch('member', grant.userId)
      return (await work(sql)).value
    })
  }
}

/** Invitations are kept in lower case, and bind only to an address that the provider has verified. */
const invitable = (email: string | undefined, verified: boolean | undefined) =>
  verified ? email?.toLowerCase() : undefined

function loginOf({ loginId }: Caller, what: string): string {
  if (loginId !== undefined) return loginId
  throw new Problem('invalid_request', `An API key has no login to ${what}`)
}
