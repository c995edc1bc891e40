// Claims jobs and does a few of them at a time: with growing pauses after failures, and never two workers on one job.
import { claimJob, completeJob, type Job, releaseJob, retryJob } from '../storage/jobs.ts'
import type { Client } from '../storage/sql.ts'
import { keepLease } from './lease.ts'

/** Does a job. The signal asks it to stop: this process is ending, or the job has gone to another worker. */
export type Handler = ((job: Job, signal: AbortSignal) => Promise<void>) & {
  /** Called once the last try has failed, for whoever waits to learn how it ended. */
  giveUp?(job: Job, reason: string): Promise<void>
  /** For what nobody would ever do again: it is tried until it is done, with pauses of minutes at most. */
  readonly isNeverGivenUp?: boolean
}

const IDLE_POLL_MS = 5000
const ATTEMPTS_MAX = 8
const PAUSE_SECONDS_MAX = 300
const CONCURRENCY = 4
/** How soon another worker takes over from one that died. */
const LEASE_SECONDS = 30

export interface WorkerOptions {
  readonly onError: (error: unknown, job?: Job) => void
  readonly concurrency?: number
  readonly leaseSeconds?: number
}

export class Worker {
  readonly #system: Client
  readonly #handlers: Readonly<Record<string, Handler>>
  readonly #options: Required<WorkerOptions>
  readonly #ending = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #wake = () => {}
  #loop: Promise<void> = Promise.resolve()

  constructor(system: Client, handlers: Readonly<Record<string, Handler>>, options: WorkerOptions) {
    this.#system = system
    this.#handlers = handlers
    this.#options = { concurrency: CONCURRENCY, leaseSeconds: LEASE_SECONDS, ...options }
  }

  async start(): Promise<void> {
    await this.#system.listen('amphi_jobs', () => this.#wake())
    this.#loop = this.#run()
  }

  /** Asks the jobs at hand to stop and waits for them; what they could not end is there for the next worker. */
  async stop(): Promise<void> {
    this.#ending.abort(new Error('This worker is ending'))
    this.#wake()
    await this.#loop
    await Promise.all(this.#running)
  }

  async #run(): Promise<void> {
    const { onError, concurrency } = this.#options
    while (!this.#ending.signal.aborted) {
      const woken = this.#sleep()
      if (this.#running.size < concurrency && (await this.#claim().catch(onError))) this.#wake()
      await woken
    }
  }

  async #claim(): Promise<boolean> {
    const job = await claimJob(this.#system, Object.keys(this.#handlers), this.#options.leaseSeconds)
    if (!job) return false
    const doing = this.#do(job)
      .catch((error) => this.#options.onError(error, job))
      .finally(() => {
        this.#running.delete(doing)
        this.#wake()
      })
    this.#running.add(doing)
    return true
  }

  async #do(job: Job): Promise<void> {
    // The count grows with each claim, so it also tells of tries that took their whole process down.
    const attemptsMax = this.#handlers[job.name]!.isNeverGivenUp ? Infinity : ATTEMPTS_MAX
    if (job.attempt > attemptsMax) return this.#giveUp(job, 'it was interrupted each time')
    const lease = keepLease(this.#system, job, this.#options.leaseSeconds)
    try {
      await this.#handlers[job.name]!(job, AbortSignal.any([this.#ending.signal, lease.lost]))
      await completeJob(this.#system, job)
    } catch (error) {
      if (lease.lost.aborted) return
      if (this.#ending.signal.aborted) return await releaseJob(this.#system, job)
      this.#options.onError(error, job)
      if (job.attempt >= attemptsMax) await this.#giveUp(job, String(error))
      else await retryJob(this.#system, job, Math.min(2 ** job.attempt, PAUSE_SECONDS_MAX), String(error))
    } finally {
      lease.end()
    }
  }

  async #giveUp(job: Job, reason: string): Promise<void> {
    await this.#handlers[job.name]!.giveUp?.(job, reason)
    await completeJob(this.#system, job)
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, IDLE_POLL_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
