// Background work: claimed once, kept while it is done, tried again, and handed on.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import type { SpaceGrant } from '../src/base/grant.ts'
import { trainingRemoveFiles } from '../src/jobs/training-remove-files.ts'
import { type Handler, Worker, type WorkerOptions } from '../src/jobs/worker.ts'
import { openCheckpointStore } from '../src/outside/checkpoint-store/open-checkpoint-store.ts'
import { jobs } from '../src/storage/jobs.ts'
import { type Client, connect } from '../src/storage/sql.ts'
import { cloneDatabase } from './support/databases.ts'
import { until } from './support/service.ts'

const grant = {
  tenantId: 'acme',
  userId: 'ana',
  requestId: 'r',
  spaceId: '0195d3c0-8f5e-7c31-9a43-1f0a6d2b7e55',
} as SpaceGrant
let database: Awaited<ReturnType<typeof cloneDatabase>>
let system: Client
const workers: Worker[] = []

before(async () => {
  database = await cloneDatabase()
  system = connect(database.url, { max: 4, role: 'amphi_system' })
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
  await system`delete from jobs`
})
after(async () => {
  await system.end()
  await database.drop()
})

async function startWorker(handlers: Record<string, Handler>, options: Partial<WorkerOptions> = {}): Promise<Worker> {
  const worker = new Worker(system, handlers, { onError: () => {}, ...options })
  workers.push(worker)
  await worker.start()
  return worker
}
const enqueue = (name: string) => jobs.enqueue(system, grant, name, {})
const rows = () => system<{ attempt: number; last_error?: string; locked_until?: string }[]>`select * from jobs`
const isAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))

test('as many jobs run at once as the worker is told, and no more', async () => {
  let running = 0
  let most = 0
  let done = 0
  const work = async () => {
    most = Math.max(most, ++running)
    await until('two run', () => most === 2)
    running--
    done++
  }
  for (let at = 0; at < 5; at++) await enqueue('work')
  await startWorker({ work }, { concurrency: 2 })
  await until('all are done', () => done === 5)
  assert.equal(most, 2)
  await until('nothing is left', async () => (await rows()).length === 0)
})

test('a job that takes longer than its lease stays with its worker', async () => {
  let begun = 0
  let end = () => {}
  const work: Handler = () => {
    begun++
    return new Promise((resolve) => {
      end = resolve
    })
  }
  await enqueue('work')
  for (let at = 0; at < 2; at++) await startWorker({ work }, { leaseSeconds: 0.3 })
  await until('it has begun', () => begun === 1)
  const [first] = await rows()
  await until('the lease was renewed', async () => (await rows())[0]!.locked_until! > first!.locked_until!)
  await system`select pg_notify('amphi_jobs', '')`
  end()
  await until('it is done', async () => (await rows()).length === 0)
  assert.equal(begun, 1)
})

/** Begins a job that goes on until it is told to stop. Gives whether it was. */
async function beginEndless(): Promise<() => boolean> {
  let told = false
  const work: Handler = async (_, signal) => {
    await isAborted(signal)
    told = true
    throw signal.reason
  }
  await enqueue('work')
  await startWorker({ work }, { leaseSeconds: 0.3 })
  await until('it has begun', async () => (await rows())[0]?.attempt === 1)
  return () => told
}

test('a worker whose job went to another is told, and leaves the row alone', async () => {
  const isTold = await beginEndless()
  await system`update jobs set attempt = 2, locked_until = now() + interval '1 hour'`
  await until('the worker is told', isTold)
  const [row] = await rows()
  assert.deepEqual([row?.attempt, row?.last_error], [2, undefined])
})

test('a worker that gets no answer about its job is told once the lease is over', async () => {
  const isTold = await beginEndless()
  await system.begin(async (sql) => {
    await sql`select from jobs for update`
    await until('the worker is told', isTold, 2000)
  })
})

test('a job of a worker that died is done by another', async () => {
  await enqueue('work')
  await system`update jobs set attempt = 1, locked_until = now() - interval '1 second'`
  const attempts: number[] = []
  await startWorker({ work: async ({ attempt }) => void attempts.push(attempt) })
  await until('it is done', async () => (await rows()).length === 0)
  assert.deepEqual(attempts, [2])
})

test('a failed job waits for its next try with the reason beside it', async () => {
  await enqueue('work')
  await startWorker({ work: () => Promise.reject(new Error('no luck')) })
  await until('the failure is noted', async () => (await rows())[0]?.last_error !== undefined)
  const [row] = await rows()
  assert.deepEqual([row?.attempt, row?.last_error, row?.locked_until], [1, 'Error: no luck', undefined])
})

test('the last failure is told to whoever waits for the outcome', async () => {
  const told: string[] = []
  const work = Object.assign(() => Promise.reject(new Error('no luck')), {
    giveUp: async (_: unknown, reason: string) => void told.push(reason),
  })
  await enqueue('work')
  await system`update jobs set attempt = 7`
  await startWorker({ work })
  await until('it is given up', async () => (await rows()).length === 0)
  assert.deepEqual(told, ['Error: no luck'])
})

test('a job that took its process down each time is given up without another try', async () => {
  const told: string[] = []
  const work = Object.assign(async () => void told.push('tried'), {
    giveUp: async (_: unknown, reason: string) => void told.push(reason),
  })
  await enqueue('work')
  await system`update jobs set attempt = 8, locked_until = now() - interval '1 second'`
  await startWorker({ work })
  await until('it is given up', async () => (await rows()).length === 0)
  assert.deepEqual(told, ['it was interrupted each time'])
})

test('the files of checkpoints are removed however long their store was away', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'amphi-jobs-'))
  const root = join(folder, 'checkpoints')
  await writeFile(root, 'not a folder yet')
  const store = openCheckpointStore({ place: root, region: '', endpoint: undefined })
  await enqueue('remove')
  await system`update jobs set attempt = 20`
  await startWorker({ remove: trainingRemoveFiles(store) })
  await until('a try has failed', async () => (await rows())[0]?.last_error !== undefined)
  const [soon] = await system`select from jobs where run_after <= now() + interval '5 minutes'`
  assert.ok(soon, 'it is tried again within minutes')
  await rm(root)
  const left = join(root, 'acme', grant.spaceId, 'training')
  await mkdir(left, { recursive: true })
  await system`update jobs set run_after = now()`
  await system`select pg_notify('amphi_jobs', '')`
  await until('it is done', async () => (await rows()).length === 0)
  await assert.rejects(stat(left), { code: 'ENOENT' })
  await rm(folder, { recursive: true })
})

test('a job that is asked to stop because the worker ends is there for the next one, as if never tried', async () => {
  let begun = false
  const work: Handler = async (_, signal) => {
    begun = true
    await isAborted(signal)
    throw signal.reason
  }
  await enqueue('work')
  const worker = await startWorker({ work })
  await until('it has begun', () => begun)
  await worker.stop()
  const [row] = await rows()
  assert.deepEqual([row?.attempt, row?.locked_until], [0, undefined])
})
