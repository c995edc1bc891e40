// The database as operations see it: it opens only to a grant, and then only to that grant's tenant.
//
// Each connection (a lane) carries the tenant it serves as a session setting that row-level security reads. A lane is
// handed on to another tenant only when nobody uses it, and the new setting travels ahead of the first statement in the
// same packet, so the fence costs no round trip; as long as a tenant stays on its lane it costs nothing at all.
import type { Grant } from '../base/grant.ts'
import { Problem } from '../base/problem.ts'
import { type Client, connect, isConnectionFailure, type Sql } from './sql.ts'
import { transaction } from './transaction.ts'

export interface Database {
  /** Statements of one tenant, outside a transaction. */
  as<T>(grant: Grant, work: (sql: Sql) => Promise<T>): Promise<T>
  /** Statements of one tenant that happen together or not at all. */
  begin<T>(grant: Grant, work: (sql: Sql) => Promise<T>): Promise<T>
  close(): Promise<void>
}

interface Lane {
  client: Client
  tenantId: string | undefined
  /** How often its connection was closed. */
  closures: number
  users: number
  exclusive: boolean
}

interface Waiter {
  readonly tenantId: string
  readonly exclusive: boolean
  readonly seat: (lane: Lane) => void
}

const WAIT_MS_MAX = 10_000

export function openDatabase(url: string, laneCount: number): Database {
  const lanes = Array.from({ length: laneCount }, () => openLane(url))
  const waiting: Waiter[] = []

  const pick = (tenantId: string, exclusive: boolean): Lane | undefined => {
    let idle: Lane | undefined
    let shared: Lane | undefined
    for (const lane of lanes) {
      if (lane.users === 0) {
        if (lane.tenantId === tenantId) return lane
        idle ??= lane
      } else if (
        !exclusive &&
        !lane.exclusive &&
        lane.tenantId === tenantId &&
        lane.users < (shared?.users ?? Infinity)
      ) {
        shared = lane
      }
    }
    return idle ?? shared
  }

  const enter = (lane: Lane, tenantId: string, exclusive: boolean): Lane => {
    lane.users++
    lane.exclusive = exclusive
    if (lane.tenantId !== tenantId) {
      lane.tenantId = tenantId
      // Not awaited: it is sent ahead of the work on the same connection. If it fails the work fails too, loudly.
      lane.client`select set_config('amphi.tenant_id', ${tenantId}, false)`.catch(() => {
        lane.tenantId = undefined
      })
    }
    return lane
  }

  const leave = (lane: Lane): void => {
    lane.users--
    lane.exclusive = false
    for (let next = waiting[0]; next; next = waiting[0]) {
      const free = pick(next.tenantId, next.exclusive)
      if (!free) return
      waiting.shift()
      next.seat(enter(free, next.tenantId, next.exclusive))
    }
  }

  const acquire = (tenantId: string, exclusive: boolean): Lane | Promise<Lane> => {
    // Nobody overtakes: a busy tenant could otherwise keep its lanes from the others for ever.
    const lane = waiting.length === 0 ? pick(tenantId, exclusive) : undefined
    if (lane) return enter(lane, tenantId, exclusive)
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        tenantId,
        exclusive,
        seat: (free) => {
          clearTimeout(timer)
          resolve(free)
        },
      }
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(waiter), 1)
        reject(new Problem('database_unavailable', 'The database is too busy right now', { retryAfterSeconds: 2 }))
      }, WAIT_MS_MAX)
      waiting.push(waiter)
    })
  }

  return {
    async as(grant, work) {
      const lane = await acquire(grant.tenantId, false)
      try {
        return await work(lane.client)
      } catch (error) {
        throw translate(error)
      } finally {
        leave(lane)
      }
    },
    async begin<T>(grant: Grant, work: (sql: Sql) => Promise<T>): Promise<T> {
      const lane = await acquire(grant.tenantId, true)
      try {
        return await transaction(lane.client, () => lane.closures, work)
      } catch (error) {
        throw translate(error)
      } finally {
        leave(lane)
      }
    },
    async close() {
      await Promise.all(lanes.map(({ client }) => client.end({ timeout: 5 })))
    },
  }
}

/**
 * A connection that was lost takes its client along. The driver would connect anew by itself, but it may still hold bytes
 * that were meant for the lost one, and then the first statement on the new one, which names the tenant, fails.
 */
function openLane(url: string): Lane {
  const open = (): Client => {
    const client = connect(url, {
      max: 1,
      role: 'amphi_app',
      onclose: () => {
        if (lane.client !== client) return
        lane.client = open()
        lane.tenantId = undefined
        lane.closures++
        setImmediate(() => client.end({ timeout: 0 }).catch(() => {}))
      },
    })
    return client
  }
  const lane: Lane = { client: open(), tenantId: undefined, closures: 0, users: 0, exclusive: false }
  return lane
}

function translate(error: unknown): unknown {
  return isConnectionFailure(error)
    ? new Problem('database_unavailable', 'The database cannot be reached right now', {
        cause: error,
        retryAfterSeconds: 1,
      })
    : error
}
