// What every operation may use: the services of the process, and the proof that the door was passed.

import type { Budgets } from '../access/budgets/budgets.ts'
import type { Caller } from '../access/caller.ts'
import type { Logins } from '../access/logins.ts'
import type { SignIn } from '../access/oidc/sign-in.ts'
import type { Replica } from '../access/replica.ts'
import type { Tokens } from '../access/tokens.ts'
import type { BusyLimit } from '../base/busy-limit.ts'
import type { Grant, SpaceGrant, TenantGrant } from '../base/grant.ts'
import type { Secret } from '../base/secret.ts'
import type { Vault } from '../base/vault.ts'
import type { ModelDirectory } from '../inference/space-models.ts'
import type { ComputeDriver } from '../outside/compute/driver.ts'
import type { Egress } from '../outside/egress/egress.ts'
import type { ObjectStore } from '../outside/object-store/object-store.ts'
import type { Database } from '../storage/database.ts'
import type { Jobs } from '../storage/jobs.ts'
import type { Client } from '../storage/sql.ts'
import type { CallRecords } from '../storage/write-buffer.ts'

/** Lives as long as the process. */
export interface Services {
  readonly db: Database
  readonly replica: Replica
  readonly tokens: Tokens
  readonly signIn: SignIn
  readonly logins: Logins
  readonly vault: Vault
  readonly jobs: Jobs
  readonly egress: Egress
  readonly objects: ObjectStore
  /** The engine on this machine, for spaces that registered no cluster. */
  readonly embedded: Pick<ComputeDriver, 'state'>
  /** Of trainings, as it comes in from all machines. */
  readonly news: News
  /** What the webhook receiver proves senders with; it alone looks up an entity before it knows the tenant. */
  readonly webhooks: { readonly secret: Secret | undefined; readonly system: Client }
  /** Uploads being read or finalized, by tenant. */
  readonly uploads: BusyLimit
  /** Where a space's model calls go. */
  readonly directory: ModelDirectory
  /** Takes what each model-backed call leaves behind. */
  readonly records: CallRecords
  readonly budgets: Budgets
}

/** Wakes those who wait for a training to take its next step. */
export interface News {
  readonly isClosed: boolean
  next(id: string, withinMs: number, signal?: AbortSignal): Promise<boolean>
  close(): void
}

/** Who may call an operation, and what its grant then proves. */
export interface GrantByScope {
  /** The permission in the space that the address names. */
  space: SpaceGrant
  /** The permission in the space that is itself the object of the operation. */
  'own-space': SpaceGrant
  /** The permission in at least one space; the grant names which. */
  tenant: TenantGrant
  /** A valid token and nothing else. */
  person: Grant
}
export type Scope = keyof GrantByScope | 'public'

export type Context<S extends Scope> = Services & {
  readonly requestId: string
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal
} & (S extends keyof GrantByScope
    ? {
        readonly grant: GrantByScope[S]
        readonly caller: Caller
        /** The space the request is narrowed to, where an operation of the tenant came with a Space header. */
        readonly onlySpace: string | undefined
      }
    : {
        readonly headers: Readonly<Record<string, string | string[] | undefined>>
        /** The body as it came, where the request bears a signature over it. */
        readonly signedText: string | undefined
        /** The network address that the request came from. */
        readonly address: string
      })
