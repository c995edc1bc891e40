// Finds out whether a new connector's bucket can be read, and puts that on its record (contract 3.5).
import { grantForJob } from '../access/job-grant.ts'
import { Problem } from '../base/problem.ts'
import type { Vault } from '../base/vault.ts'
import type { ObjectStore } from '../outside/object-store/object-store.ts'
import { isPassing } from '../outside/object-store/store-problems.ts'
import { connectorBucket } from '../resources/connectors/connector-bucket.ts'
import { settleConnector } from '../resources/connectors/connectors-store.ts'
import type { Database } from '../storage/database.ts'
import type { Job } from '../storage/jobs.ts'
import type { Handler } from './worker.ts'

/** A store that is away for a moment should not spoil a connector; one that stays away is told. */
const TRIES_WHILE_AWAY = 3

export function connectorVerify(services: { db: Database; vault: Vault; objects: ObjectStore }): Handler {
  const { db, objects } = services

  const settle = (job: Job, error?: string) => {
    const grant = grantForJob(job)
    return db.as(grant, (sql) => settleConnector(sql, grant, idOf(job), 'pending', error))
  }

  const verify = async (job: Job, signal: AbortSignal) => {
    const bucket = await connectorBucket(services, grantForJob(job), idOf(job)).catch(orGone)
    if (!bucket) return
    try {
      for await (const _ of objects.list(bucket, '', 1, signal)) break
    } catch (error) {
      if (!(error instanceof Problem) || (isPassing(error) && job.attempt < TRIES_WHILE_AWAY)) throw error
      return settle(job, error.message)
    }
    await settle(job)
  }

  return Object.assign(verify, { giveUp: (job: Job) => settle(job, 'The bucket could not be checked') })
}

const idOf = (job: Job) => String(job.payload['id'])

/** Deleted before its turn came. */
function orGone(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'not_found') return undefined
  throw error
}
