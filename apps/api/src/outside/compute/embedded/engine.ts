// The embedded engine: runs jobs on this machine, as the driver of a cluster would run them elsewhere.
import type { ComputeDriver, ComputeJob, ComputeStatus } from '../driver.ts'

/** Does a job from beginning to end. It is told to stop by the signal. */
export type Program = (job: ComputeJob, io: ProgramIo) => Promise<void>

export interface ProgramIo {
  readonly signal: AbortSignal
  log(line: string): void
}

export interface EmbeddedOptions {
  readonly programs: Readonly<Record<ComputeJob['kind'], Program>>
  /** Puts a failure into words for the job's owner; nothing when it says nothing about the job itself. */
  readonly explain: (error: unknown) => string | undefined
  readonly onError: (error: unknown, job: ComputeJob) => void
  readonly state: ComputeDriver['state']
}

interface Run {
  readonly stop: AbortController
  status: ComputeStatus
  log: string
}

const LOG_CHARACTERS_MAX = 64 * 1024
/** How many ended jobs can still be asked about. */
const ENDED_MAX = 100

export class EmbeddedEngine implements ComputeDriver {
  readonly #options: EmbeddedOptions
  readonly #runs = new Map<string, Run>()
  readonly state: ComputeDriver['state']

  constructor(options: EmbeddedOptions) {
    this.#options = options
    this.state = options.state
  }

  async submit(job: ComputeJob): Promise<{ ref: string }> {
    const ref = `${job.id}:${job.attempt}`
    if (!this.#runs.has(ref)) void this.#run(ref, job)
    return { ref }
  }

  async status(ref: string): Promise<ComputeStatus> {
    return this.#runs.get(ref)?.status ?? { phase: 'unknown', reason: 'This machine does not run it' }
  }

  async *logs(ref: string, { offset, maxBytes }: { offset: number; maxBytes: number }) {
    const text = this.#runs.get(ref)?.log.slice(offset, offset + maxBytes) ?? ''
    if (text !== '') yield { offset, text }
  }

  async stop(ref: string): Promise<void> {
    this.#runs.get(ref)?.stop.abort(new Error('The job was stopped'))
  }

  async #run(ref: string, job: ComputeJob): Promise<void> {
    const run: Run = { stop: new AbortController(), status: { phase: 'running' }, log: '' }
    this.#runs.set(ref, run)
    const log = (line: string) => {
      if (run.log.length < LOG_CHARACTERS_MAX) run.log += `${line}\n`
    }
    run.status = await this.#options.programs[job.kind](job, { signal: run.stop.signal, log }).then(
      (): ComputeStatus => ({ phase: 'succeeded' }),
      (error) => this.#toStatus(job, run, error),
    )
    this.#forgetOldest()
  }

  #toStatus(job: ComputeJob, run: Run, error: unknown): ComputeStatus {
    if (run.stop.signal.aborted || (error as Error).name === 'AbortError') return { phase: 'stopped' }
    const reason = this.#options.explain(error)
    if (reason !== undefined) return { phase: 'failed', reason }
    this.#options.onError(error, job)
    return { phase: 'unknown', reason: String(error) }
  }

  #forgetOldest(): void {
    const ended = [...this.#runs].filter(([, { status }]) => status.phase !== 'running')
    for (const [ref] of ended.slice(0, -ENDED_MAX)) this.#runs.delete(ref)
  }
}
