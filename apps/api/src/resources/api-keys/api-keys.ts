// API keys (contract 4.2.16, 5.7): machines sign in with what a person lends them, and never more than that person has.
import { newKey } from '../../access/api-keys.ts'
import type { Caller } from '../../access/caller.ts'
import { lockPerson } from '../../access/logins-store.ts'
import type { Snapshot } from '../../access/snapshot.ts'
import { Problem } from '../../base/problem.ts'
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { countOwnKeys, deleteKey, insertKey, listKeys } from './api-keys-store.ts'
import { ApiKey, CreatedApiKey, NewApiKey } from './shapes.ts'

/** Keys are held in the memory of every replica, so nobody makes them without end. */
const KEYS_PER_PERSON_MAX = 1000

const apiKeys = resource('api-keys', 'tenant')

export default [
  apiKeys.list({
    summary: 'List your API keys, and those of others if you may everywhere',
    query: cursor(10),
    result: pageOf(ApiKey),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listKeys(sql, grant, query)),
  }),

  apiKeys.create({
    summary: 'Create an API key: the key is shown this once',
    body: NewApiKey,
    result: CreatedApiKey,
    run: async ({ replica, grant, caller }, { body }) => {
      const seats = seatsFor(caller, body.seats)
      const expiresAt = expiryFor(caller, body.expires_at)
      const { key, prefix, hash } = newKey()
      const row = await replica.change(grant, async (sql, snapshot, touch) => {
        if (caller.keyId !== undefined && !snapshot.keys.isLive(caller.keyId)) {
          throw new Problem('unauthenticated', 'The API key that asks for another one was deleted')
        }
        if (!(await lockPerson(sql, grant))) throw new Problem('conflict', 'Sign in before you make API keys')
        if ((await countOwnKeys(sql, grant)) >= KEYS_PER_PERSON_MAX) {
          throw new Problem('conflict', `You have ${KEYS_PER_PERSON_MAX} API keys: delete some that are not used`)
        }
        const values = { name: body.name, seats, prefix, hash, parentId: caller.keyId, expiresAt }
        const made = await insertKey(sql, grant, values)
        const spaces = spacesOf(snapshot, grant.tenantId, seats)
        const after = { name: made.name, prefix, seats, expires_at: expiresAt }
        await audit(sql, grant, { action: 'api-keys.create', resource: 'api-keys', resourceId: made.id, spaces, after })
        touch('key', made.id)
        return made
      })
      return { ...row, key }
    },
  }),

  apiKeys.remove({
    summary: 'Delete an API key and those made with it: they are void at once',
    run: ({ replica, grant }, { id }) =>
      replica.change(grant, async (sql, snapshot, touch) => {
        for (const { id: resourceId, name, prefix, seats, created_by } of await deleteKey(sql, grant, id)) {
          const spaces = spacesOf(snapshot, grant.tenantId, seats)
          const before = { name, prefix, seats, created_by }
          await audit(sql, grant, { action: 'api-keys.delete', resource: 'api-keys', resourceId, spaces, before })
          touch('key', resourceId)
        }
      }),
  }),
]

function seatsFor(caller: Caller, wanted: readonly string[] | undefined): string[] {
  const seats = [...new Set(wanted ?? caller.seatNames)]
  const missing = seats.find((name) => !caller.seatNames.includes(name))
  if (missing === undefined) return seats
  throw escalation(caller, `You cannot lend the seat ${missing}: you do not hold it yourself`, 'seats')
}

/** A key that was made with a key is gone when that one is, so it cannot last longer either. */
function expiryFor(caller: Caller, wanted: string | undefined): string | undefined {
  const { keyId, expiresAt } = caller
  const limit = keyId !== undefined && Number.isFinite(expiresAt) ? expiresAt * 1000 : undefined
  if (wanted === undefined) return limit === undefined ? undefined : new Date(limit).toISOString()
  const at = Date.parse(wanted)
  if (!(at > Date.now()))
    throw new Problem('invalid_request', 'expires_at must lie in the future', { param: 'expires_at' })
  if (limit === undefined || at <= limit) return new Date(at).toISOString()
  throw escalation(caller, 'A key cannot outlive the key it is made with', 'expires_at')
}

const escalation = ({ seatNames }: Caller, message: string, param: string): Problem =>
  new Problem('escalation', message, {
    param,
    access: { space: undefined, permission: 'api-keys:create', seats: seatNames },
  })

const spacesOf = (snapshot: Snapshot, tenantId: string, seats: readonly string[]): string[] => [
  ...new Set(seats.flatMap((name) => [...(snapshot.seat(tenantId, name)?.spaces ?? [])])),
]
