// Runs one training or evaluation in a process of its own and turns whatever becomes of it into a result or a reason.
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DataProblem } from './data-problem.ts'
import type { Checkpoint, TrainerCommand, TrainerJob, TrainerMessage, TrainerResult } from './job.ts'
import type { Round } from './round.ts'

export interface TrainerOptions {
  onRound?(round: Round): void
  onCheckpoint?(checkpoint: Checkpoint): void
  signal?: AbortSignal
}

/** JavaScript's own heap; the data lie outside it and are counted before they are read. */
const HEAP_MB_MAX = 1024
const CANCEL_GRACE_MS = 2000
const STDERR_KEPT = 8192

/** Rejects with a DataProblem when the person can act on it, with the signal's reason when cancelled. */
export async function runTrainer<J extends TrainerJob>(
  job: J,
  options: TrainerOptions = {},
): Promise<TrainerResult<J>> {
  const scratchFolder = await mkdtemp(join(job.outputFolder, '.unfinished-'))
  try {
    options.signal?.throwIfAborted()
    return (await converse(job, scratchFolder, options)) as TrainerResult<J>
  } finally {
    await rm(scratchFolder, { recursive: true, force: true, maxRetries: 3 })
  }
}

function converse(job: TrainerJob, scratchFolder: string, { onRound, onCheckpoint, signal }: TrainerOptions) {
  const child = start()
  const errors = keepErrors(child)
  let outcome: TrainerMessage | undefined
  let grace: NodeJS.Timeout | undefined
  const cancel = () => {
    if (child.connected) child.send({ type: 'cancel' } satisfies TrainerCommand, () => {})
    grace = setTimeout(() => child.kill('SIGKILL'), CANCEL_GRACE_MS)
  }
  signal?.addEventListener('abort', cancel, { once: true })
  return new Promise<unknown>((resolve, reject) => {
    child.on('message', (message: TrainerMessage) => {
      if (signal?.aborted) return
      if (message.type === 'round') {
        const { type: _, ...round } = message
        onRound?.(round)
      } else if (message.type === 'checkpoint') {
        const { type: _, ...checkpoint } = message
        onCheckpoint?.(checkpoint)
      } else outcome = message
    })
    child.once('error', (error) => reject(new Error('The trainer could not be started.', { cause: error })))
    child.once('close', (code, killedBy) => {
      clearTimeout(grace)
      signal?.removeEventListener('abort', cancel)
      if (outcome?.type === 'done') resolve(outcome.result)
      else if (signal?.aborted) reject(signal.reason)
      else reject(outcome?.type === 'failed' ? toError(outcome) : toCrash(code, killedBy, errors()))
    })
    child.send({ type: 'start', job, scratchFolder } satisfies TrainerCommand, (error) => {
      if (error) child.kill('SIGKILL')
    })
  })
}

function start(): ChildProcess {
  return fork(fileURLToPath(new URL('./trainer-process.ts', import.meta.url)), [], {
    execArgv: [`--max-old-space-size=${HEAP_MB_MAX}`],
    // The process needs none of the service's settings, so it gets none of its secrets.
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

function keepErrors(child: ChildProcess): () => string {
  let kept = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-STDERR_KEPT)
  })
  return () => kept
}

function toError({ reason, isProblem, detail }: Extract<TrainerMessage, { type: 'failed' }>): Error {
  return isProblem ? new DataProblem(reason) : new Error(reason, { cause: detail })
}

function toCrash(code: number | null, killedBy: string | null, errors: string): Error {
  if (/out of memory|allocation failed/i.test(errors)) {
    return new DataProblem('The trainer ran out of memory: the data are too large for this machine.', errors)
  }
  if (killedBy === 'SIGKILL') return new DataProblem('The trainer was killed, most likely for want of memory.', errors)
  const how = killedBy ? `by ${killedBy}` : `with exit code ${code}`
  return new Error(`The trainer ended unexpectedly ${how}.`, { cause: errors })
}
