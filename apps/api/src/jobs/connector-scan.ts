// Looks through the files of a scan one after the other and keeps what it finds (contract 2.28, 3.5).
import { join } from 'node:path'
import { grantForJob } from '../access/job-grant.ts'
import { type Code, Problem } from '../base/problem.ts'
import type { Vault } from '../base/vault.ts'
import type { Scratch } from '../outside/compute/embedded/scratch.ts'
import type { Bucket } from '../outside/object-store/bucket.ts'
import type { ObjectStore } from '../outside/object-store/object-store.ts'
import { bucketOf } from '../resources/connectors/connector-bucket.ts'
import { connectorTable, settleConnector } from '../resources/connectors/connectors-store.ts'
import { findOpenScan, finishScan, keepScanned } from '../resources/connectors/scans-store.ts'
import type { ScannedFile } from '../resources/connectors/shapes.ts'
import type { Database } from '../storage/database.ts'
import type { Job } from '../storage/jobs.ts'
import { DataProblem } from '../training/data-problem.ts'
import { scanStoredFile } from './connector-scan-file.ts'
import type { Handler } from './worker.ts'

/** Even a store that sends a byte now and then must come to an end. */
const SCAN_HOURS_MAX = 2

export interface ScanServices {
  readonly db: Database
  readonly vault: Vault
  readonly objects: ObjectStore
  /** Where files lie while they are looked through. */
  readonly scratch: Scratch
}

export function connectorScan({ db, vault, objects, scratch }: ScanServices): Handler {
  const settle = (job: Job, error: string | undefined) => {
    const grant = grantForJob(job)
    const { id, scan } = idsOf(job)
    return db.begin(grant, async (sql) => {
      await finishScan(sql, grant, id, scan, error)
      await settleConnector(sql, grant, id, 'scanning', error)
    })
  }

  const scan = async (job: Job, signal: AbortSignal) => {
    const grant = grantForJob(job)
    const ids = idsOf(job)
    const open = await db.as(grant, (sql) => findOpenScan(sql, grant, ids.id, ids.scan))
    if (!open) return
    const bucket = bucketOf(vault, grant, await connectorTable.get(db, grant, ids.id))
    const limited = AbortSignal.any([signal, AbortSignal.timeout(SCAN_HOURS_MAX * 3_600_000)])
    const files = [...open.files]
    try {
      const isWanted = await scratch.during(async (folder) => {
        for (const name of open.wanted.slice(files.length)) {
          files.push(await lookThrough(objects, bucket, name, join(folder, 'file'), limited))
          const kept = await db.as(grant, (sql) => keepScanned(sql, grant, ids.id, ids.scan, files))
          if (!kept) return false
        }
        return true
      })
      if (!isWanted) return
    } catch (error) {
      signal.throwIfAborted()
      return await settle(job, faultOfTheStore(error))
    }
    await settle(job, firstError(files))
  }

  return Object.assign(scan, { giveUp: (job: Job) => settle(job, 'The scan could not be finished') })
}

const idsOf = ({ payload }: Job) => ({ id: String(payload['id']), scan: String(payload['scan']) })

/** A fault of one file is kept beside it, and the scan goes on. */
async function lookThrough(
  objects: ObjectStore,
  bucket: Bucket,
  name: string,
  path: string,
  signal: AbortSignal,
): Promise<ScannedFile> {
  try {
    const { rows, columns } = await scanStoredFile(objects, bucket, name, path, signal)
    return {
      name,
      row_count: rows,
      columns: columns.map(({ nulls, ...column }) => ({
        ...column,
        ...(nulls !== undefined && { null_count: nulls }),
      })),
    }
  } catch (error) {
    const isOfTheFile = error instanceof DataProblem || (error instanceof Problem && FAULTS_OF_A_FILE.has(error.code))
    if (isOfTheFile) return { name, error: error.message }
    throw error
  }
}

const FAULTS_OF_A_FILE = new Set<Code>(['not_found', 'conflict'])

/** What will not be better at the next file ends the scan; a fault of our own is thrown, and the job tried again. */
function faultOfTheStore(error: unknown): string {
  if (error instanceof Problem && error.code !== 'database_unavailable') return error.message
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    return `The scan took longer than ${SCAN_HOURS_MAX} hours`
  }
  throw error
}

function firstError(files: readonly ScannedFile[]): string | undefined {
  const [first, ...others] = files.flatMap(({ error }) => error ?? [])
  return others.length > 0 ? `${first} (and ${others.length} more)` : first
}
