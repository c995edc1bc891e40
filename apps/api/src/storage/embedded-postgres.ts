// The database a service has when it is given none: a Postgres server of its own, on a private Unix socket.
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CannotStart } from '../base/cannot-start.ts'
import { makeDataFolder } from '../base/data-folder.ts'
import { chooseIdentity, prepareBinaries } from './embedded-postgres-binaries.ts'
import { claimFolder, clusterName, endLeftovers } from './embedded-postgres-claim.ts'
import { prepareCluster } from './embedded-postgres-cluster.ts'
import { LOG_LINE_PREFIX, withoutStatementFailures } from './embedded-postgres-log.ts'
import { makeRunFolder, type RunFolder, SOCKET_PORT } from './embedded-postgres-run-folder.ts'
import { DATA_FOLDER, type Supervised, supervise } from './embedded-postgres-supervisor.ts'

export interface EmbeddedPostgres {
  /** Superuser address, good for postgres.js and libpq in any process of the same user. */
  readonly url: string
  /** The postmaster. */
  readonly pid: number
  /** Resolves when the server is gone, whether it was stopped or not. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** Serves one process at a time; made if missing. */
  readonly dataDir: string
  /** Receives Postgres' log, line by line, without the failures of single statements. */
  readonly log?: (line: string) => void
  /** Postgres settings that take the place of ours. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
}

/** For a machine shared with the service. What guards against crashes (fsync, full_page_writes) is on by default. */
const SETTINGS = {
  listen_addresses: '',
  max_connections: 100,
  shared_buffers: '256MB',
  max_wal_size: '1GB',
  random_page_cost: 1.1,
  // Statements are short and many: compiling or splitting one costs more than it gains.
  jit: false,
  max_parallel_workers_per_gather: 0,
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: false,
  log_min_error_statement: 'panic',
}

/** The supervisor needs ten seconds to lose patience, and Postgres then five more. */
const STOP_MS_MAX = 16_000

export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  makeDataFolder(options.dataDir)
  const dataDir = realpathSync(options.dataDir)
  const claim = claimFolder(dataDir)
  try {
    return await startClaimed(dataDir, options, claim.release)
  } catch (error) {
    claim.release()
    throw error
  }
}

async function startClaimed(dataDir: string, options: EmbeddedPostgresOptions, release: () => void) {
  const run = makeRunFolder(dataDir)
  try {
    const folder = join(dataDir, 'postgres')
    const identity = chooseIdentity()
    const binaries = prepareBinaries(identity, run.path)
    await prepareCluster(folder, identity, binaries)
    await endLeftovers(folder)
    const settings = {
      ...SETTINGS,
      ...options.settings,
      port: SOCKET_PORT,
      unix_socket_directories: run.socketFolders,
      cluster_name: clusterName(folder),
      log_line_prefix: LOG_LINE_PREFIX,
    }
    const server = supervise(identity, binaries, {
      program: 'postgres',
      args: ['-D', DATA_FOLDER, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      folder,
      runFolder: run.path,
      ...(options.log && { log: withoutStatementFailures(options.log) }),
    })
    const pid = await ready(server, folder, run)
    let isOver = false
    const ended = server.ended.then(() => {
      isOver = true
      run.remove()
      release()
    })
    const stop = async () => {
      await Promise.race([server.end(), delay(STOP_MS_MAX, undefined, { ref: false })])
      // Once this server is gone, the folder may be another one's.
      if (!isOver) await endLeftovers(folder)
      await ended
    }
    return { url: run.url, pid, ended, stop }
  } catch (error) {
    run.remove()
    throw error
  }
}

async function ready(server: Supervised, folder: string, run: RunFolder): Promise<number> {
  let isOver = false
  const end = server.ended.then(() => {
    isOver = true
  })
  while (!isOver) {
    const [pid, , , , socketFolder, , , state] = readPidFile(folder)
    // That folder is new with every start, so the file is not an earlier server's.
    if (socketFolder === run.path && state?.trim() === 'ready') return Number(pid)
    await Promise.race([delay(5), end])
  }
  throw new CannotStart(`Postgres did not start on ${folder}:\n${server.lastWords()}`)
}

function readPidFile(folder: string): string[] {
  try {
    return readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return []
  }
}
