// Looks through a local file in a process of its own: a file that makes its reader fail takes nothing else down.
import { fork } from 'node:child_process'
import { constants, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Format } from '../training/data/source-file.ts'
import { DataProblem } from '../training/data-problem.ts'

export interface Inspection {
  readonly path: string
  readonly name: string
  /** Of a Parquet file only the footer need be there. */
  readonly format: Format
}

export interface Findings {
  readonly rows: number
  /** The number of missing values is not known where a Parquet file does not tell it. */
  readonly columns: readonly { readonly name: string; readonly type: string; readonly nulls?: number }[]
}

export type Outcome = { readonly findings: Findings } | { readonly fault: string } | { readonly bug: string }

const PROGRAM = fileURLToPath(new URL('./connector-inspect-process.ts', import.meta.url))

export function inspect(inspection: Inspection, signal: AbortSignal): Promise<Findings> {
  return new Promise((resolve, reject) => {
    // It inherits no setting of this process, and so no secret.
    const child = fork(PROGRAM, { env: {}, execArgv: [], stdio: 'ignore' })
    const leave = () => child.kill('SIGKILL')
    signal.addEventListener('abort', leave)
    let outcome: Outcome | undefined
    child.on('message', (message) => {
      outcome = message as Outcome
    })
    child.on('error', reject)
    child.on('exit', () => {
      signal.removeEventListener('abort', leave)
      if (signal.aborted) return reject(signal.reason)
      if (!outcome) return reject(new DataProblem(`${inspection.name}: the file makes its reader fail.`))
      if ('findings' in outcome) return resolve(outcome.findings)
      reject('fault' in outcome ? new DataProblem(outcome.fault) : new Error(outcome.bug))
    })
    child.on('spawn', () => {
      if (signal.aborted) return leave()
      // Requests go first.
      setPriority(child.pid!, constants.priority.PRIORITY_LOW)
      child.send(inspection)
    })
  })
}
