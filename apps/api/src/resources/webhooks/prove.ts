// Who sends a webhook, and whether they may speak for the entity it is about (contract 6.1): three ways of proof.
import { digestOf, isKey } from '../../access/api-keys.ts'
import { authorizeInSpace } from '../../access/authorize.ts'
import type { Caller } from '../../access/caller.ts'
import { grantForJob } from '../../access/job-grant.ts'
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Context } from '../../contract/context.ts'
import { type Entity, findEntity, findJobByToken } from './entities-store.ts'
import { isJobToken, jobTokenHash } from './job-token.ts'
import { isSigned, verifySignature } from './signature.ts'

export interface Proven {
  readonly entity: Entity
  readonly grant: SpaceGrant
  /** When a signed request was signed, however often it is sent. */
  readonly signedAt?: string
}

/** Who acts when a signature is all that is known of the sender. */
const SIGNER = 'webhook'

export async function prove(context: Context<'public'>, entityId: string): Promise<Proven> {
  const { headers } = context
  if (isSigned(headers)) return proveBySignature(context, entityId)
  const bearer = /^Bearer +([^\s]+)$/i.exec(String(headers['authorization'] ?? ''))?.[1]
  if (!bearer) throw new Problem('unauthenticated', 'Send a bearer token, the job’s token, or a signature')
  return isJobToken(bearer) ? proveByJob(context, entityId, bearer) : proveByCaller(context, entityId, bearer)
}

async function proveBySignature({ webhooks, headers, signedText, requestId }: Context<'public'>, id: string) {
  const { secret, system } = webhooks
  if (!secret) throw new Problem('unauthenticated', 'Signatures are not set up here: WEBHOOK_SECRET is not set')
  const signedAt = verifySignature(secret, headers, signedText ?? '')
  const entity = found(isId(id) ? await findEntity(system, id) : undefined)
  return { entity, grant: grantFor(entity, SIGNER, requestId), signedAt }
}

async function proveByJob({ webhooks: { system }, requestId }: Context<'public'>, id: string, token: string) {
  const entity = await findJobByToken(system, jobTokenHash(token))
  if (!entity) throw new Problem('unauthenticated', 'This job token has expired, or its job has ended')
  if (entity.id !== id) throw new Problem('forbidden', 'This job token speaks for another training or evaluation')
  return { entity, grant: grantFor(entity, entity.created_by, requestId) }
}

async function proveByCaller(context: Context<'public'>, id: string, bearer: string) {
  const { replica, requestId, webhooks } = context
  const caller = await callerOf(context, bearer)
  const entity = isId(id) ? await findEntity(webhooks.system, id) : undefined
  const own = found(entity?.tenant_id === caller.tenantId ? entity : undefined)
  return { entity: own, grant: authorizeInSpace(replica.snapshot, caller, own.space_id, 'webhooks:create', requestId) }
}

async function callerOf({ replica, tokens }: Context<'public'>, bearer: string): Promise<Caller> {
  if (isKey(bearer)) {
    await replica.makeCurrent()
    const caller = replica.snapshot.keys.findCaller(digestOf(bearer))
    if (!caller) throw new Problem('unauthenticated', 'There is no such API key, or it was deleted')
    if (caller.expiresAt * 1000 <= Date.now()) throw new Problem('token_expired', 'This API key has expired')
    return caller
  }
  const caller = tokens.remembered(bearer) ?? (await tokens.verify(bearer))
  await replica.makeCurrent()
  if (caller.loginId !== undefined && replica.snapshot.hasEnded(caller.loginId)) {
    throw new Problem('unauthenticated', 'This login was ended')
  }
  return caller
}

function found(entity: Entity | undefined): Entity {
  if (!entity) throw new Problem('not_found', 'No such entity')
  return entity
}

const grantFor = ({ tenant_id, space_id }: Entity, user_id: string, request_id: string) =>
  grantForJob({ tenant_id, space_id, user_id, request_id })
