// The process one training or evaluation runs in: takes its job over the channel to the service, tells its progress
// there, and ends at once when it is told to or when the service is gone.
import { rmSync } from 'node:fs'
import { setPriority } from 'node:os'
import type { DataLimits } from './data/database.ts'
import { DataProblem } from './data-problem.ts'
import { evaluateModel } from './evaluate-model.ts'
import type { TrainerCommand, TrainerJob, TrainerMessage } from './job.ts'
import { loadModel } from './model.ts'
import { train } from './train.ts'

const NICE = 10
/** The table engine's share of the allowed memory; the rest is for the columns. */
const ENGINE_PART = 0.25
const ENGINE_BYTES_MAX = 2 ** 30
const ENGINE_BYTES_MIN = 128 * 2 ** 20

// Threads take over the priority of the one that starts them, so this comes before any is started.
setPriority(NICE)

let scratch: string | undefined

/** An ordinary exit would wait for the query or the round under way. */
function endAtOnce(): void {
  if (scratch) rmSync(scratch, { recursive: true, force: true, maxRetries: 3 })
  process.kill(process.pid, 'SIGKILL')
}

/** Resolves when the message has left, since ending before would lose it. */
const tell = (message: TrainerMessage) =>
  new Promise<void>((resolve) => {
    process.send!(message, () => resolve())
  })

async function work(job: TrainerJob, scratchFolder: string): Promise<TrainerMessage> {
  const engineBytes = Math.min(ENGINE_BYTES_MAX, Math.max(ENGINE_BYTES_MIN, job.memoryBytes * ENGINE_PART))
  const limits: DataLimits = { threads: job.threads, memoryBytes: engineBytes, scratchFolder }
  if (job.kind === 'evaluate') {
    const result = await evaluateModel(await loadModel(job.checkpoint), job.files, job.format, limits)
    return { type: 'done', result }
  }
  const onRound = (round: object) => void tell({ type: 'round', ...round } as TrainerMessage)
  const onCheckpoint = (checkpoint: object) => void tell({ type: 'checkpoint', ...checkpoint } as TrainerMessage)
  return { type: 'done', result: await train(job, limits, { onRound, onCheckpoint }) }
}

function toFailure(error: unknown): TrainerMessage {
  if (error instanceof DataProblem) return { type: 'failed', reason: error.message, isProblem: true }
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOSPC' || code === 'EDQUOT') return { type: 'failed', reason: 'The disk is full.', isProblem: true }
  const isRefused = error instanceof RangeError && /allocat|memory/i.test(error.message)
  if (isRefused || code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { type: 'failed', reason: 'The data need more memory than this machine has.', isProblem: true }
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { type: 'failed', reason: 'The trainer failed.', isProblem: false, detail }
}

process.on('message', async (command: TrainerCommand) => {
  if (command.type === 'cancel') return endAtOnce()
  scratch = command.scratchFolder
  await tell(await work(command.job, command.scratchFolder).catch(toFailure))
  process.exit()
})
process.on('disconnect', endAtOnce)
// A signal to all processes of a terminal is the service's to act on; it tells this one what to do.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
