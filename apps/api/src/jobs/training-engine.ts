// Which engine a job runs on, and following it there to its end.
import { setTimeout as delay } from 'node:timers/promises'
import type { SpaceGrant } from '../base/grant.ts'
import type { ComputeDriver, ComputeJob, ComputeStatus } from '../outside/compute/driver.ts'
import { findCluster } from '../resources/clusters/clusters-store.ts'
import type { Database } from '../storage/database.ts'
import { DataProblem } from '../training/data-problem.ts'

/** The embedded engine has no GPUs, and it is the only one that trains so far. */
export async function assertEngine(db: Database, grant: SpaceGrant, gpuCount: number): Promise<void> {
  if (gpuCount === 0) return
  const cluster = await db.as(grant, (sql) => findCluster(sql, grant))
  throw new DataProblem(
    cluster
      ? `gpu_count is ${gpuCount}, and work on the cluster of this space is not offered: 0 runs on this machine.`
      : `gpu_count is ${gpuCount}: this needs a cluster, and the space has none.`,
  )
}

const ASK_EVERY_MS = 200

/** Runs a job and tells how it ended. Whoever no longer wants it is believed only once it has stopped. */
export async function runOn(
  driver: Pick<ComputeDriver, 'submit' | 'status' | 'stop'>,
  job: ComputeJob,
  signal: AbortSignal,
  isWanted: () => Promise<boolean>,
): Promise<ComputeStatus> {
  const { ref } = await driver.submit(job)
  for (;;) {
    const status = await driver.status(ref)
    if (status.phase !== 'pending' && status.phase !== 'running') return status
    if (signal.aborted || !(await isWanted())) await driver.stop(ref)
    await delay(ASK_EVERY_MS)
  }
}

/** Answers from memory for a while before it looks again; a look that fails changes nothing. */
export function everyNowAndThen(look: () => Promise<boolean>, everyMs = 1000): () => Promise<boolean> {
  let answer = true
  let lookedAt = performance.now()
  return async () => {
    if (performance.now() - lookedAt < everyMs) return answer
    lookedAt = performance.now()
    answer = await look().catch(() => answer)
    return answer
  }
}

/** A signal that is given when the first one is, or when a look finds that nobody waits for the outcome any more. */
export function untilUnwanted(isWanted: () => Promise<boolean>, signal: AbortSignal, everyMs = 1000) {
  const unwanted = new AbortController()
  const timer = setInterval(async () => {
    if (!(await isWanted().catch(() => true))) unwanted.abort()
  }, everyMs)
  return { signal: AbortSignal.any([signal, unwanted.signal]), end: () => clearInterval(timer) }
}
