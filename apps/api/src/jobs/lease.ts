// Keeps a job with the worker that does it: renewed all the while, and given up when the database has not agreed for too long.
import { type Job, renewJob } from '../storage/jobs.ts'
import type { Client } from '../storage/sql.ts'

export interface Lease {
  /** Aborted when another worker may have the job. */
  readonly lost: AbortSignal
  end(): void
}

export function keepLease(system: Client, job: Job, leaseSeconds: number): Lease {
  const lost = new AbortController()
  const leaseMs = leaseSeconds * 1000
  const lose = () => lost.abort(new Error('Another worker may have this job'))
  let heldUntil = performance.now() + leaseMs
  const renew = async () => {
    const sentAt = performance.now()
    const held = await renewJob(system, job, leaseSeconds).catch(() => undefined)
    if (held) heldUntil = sentAt + leaseMs
    if (held === false) lose()
  }
  // Apart from renewing: a database that hangs gives no answer after which the time could be looked at.
  const watch = () => {
    if (performance.now() > heldUntil) lose()
  }
  const timers = [setInterval(renew, leaseMs / 3), setInterval(watch, leaseMs / 30)]
  return { lost: lost.signal, end: () => timers.forEach(clearInterval) }
}
