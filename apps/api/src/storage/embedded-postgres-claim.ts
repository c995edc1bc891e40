// Sees to it that one service, and no server left over from an earlier one, uses a data folder.
import { readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { CannotStart } from '../base/cannot-start.ts'

const SQLITE_BUSY = 5

/** Takes a file lock of the kernel, which vanishes with this process. Node has one only inside SQLite. */
export function claimFolder(dataDir: string): { release(): void } {
  try {
    const lock = new DatabaseSync(join(dataDir, 'lock'), { timeout: 0 })
    lock.exec('begin exclusive')
    return { release: () => lock.close() }
  } catch (cause) {
    const { errcode, message } = cause as Error & { errcode?: number }
    const reason =
      errcode === SQLITE_BUSY ? 'another process uses it. Stop that one, or set DATA_DIR to another folder' : message
    throw new CannotStart(`Cannot use the data folder ${dataDir}: ${reason}`, { cause })
  }
}

/** A name that all processes of a folder's server show in their command lines, where anybody may read it. */
export function clusterName(folder: string): string {
  const { dev, ino } = statSync(folder)
  return `amphi-${dev}-${ino}`
}

/** With SIGQUIT and SIGKILL the next start recovers from the write-ahead log, so nothing is lost either way. */
const PERSUASION = [
  ['SIGINT', 2_000],
  ['SIGQUIT', 6_000],
  ['SIGKILL', 2_000],
] as const

/** Ends a server that outlived its supervisor. The caller holds the folder's lock, so nobody needs that server. */
export async function endLeftovers(folder: string): Promise<void> {
  const name = clusterName(folder)
  for (const [signal, patienceMs] of PERSUASION) {
    const left = findServer(name)
    if (left.length === 0) break
    const postmasters = left.filter(({ isPostmaster }) => isPostmaster)
    // A postmaster ends its children itself, and children that lost theirs have nothing to finish.
    if (signal === 'SIGKILL') left.forEach(({ pid }) => void sendSignal(pid, 'SIGKILL'))
    else if (postmasters.length > 0) postmasters.forEach(({ pid }) => void sendSignal(pid, signal))
    else left.forEach(({ pid }) => void sendSignal(pid, 'SIGQUIT'))

    const deadline = performance.now() + patienceMs
    while (findServer(name).length > 0 && performance.now() < deadline) await delay(10)
  }
  removeStalePidFile(folder)
}

function findServer(name: string): { pid: number; isPostmaster: boolean }[] {
  return readdirSync('/proc').flatMap((entry) => {
    const command = readCommand(entry)
    const isPostmaster = isPostgres(command) && command.includes(`cluster_name=${name}`)
    return isPostmaster || command[0]?.startsWith(`postgres: ${name}: `) ? [{ pid: Number(entry), isPostmaster }] : []
  })
}

// Postgres takes any living process that postmaster.pid names for a rival, but after a crash that number can belong to
// any program, even one of ours. A server that somebody runs here by hand is left alone, for Postgres to refuse.
function removeStalePidFile(folder: string): void {
  const file = join(folder, 'postmaster.pid')
  const named = tryTo(() => readFileSync(file, 'utf8').split('\n')[0])
  if (!named) return
  const runsHere = (pid: string) => {
    if (!isPostgres(readCommand(pid))) return false
    const cwd = tryTo(() => readlinkSync(`/proc/${pid}/cwd`))
    return cwd ? cwd === folder : pid === named
  }
  if (!readdirSync('/proc').some(runsHere)) rmSync(file)
}

const isPostgres = ([program = '']: string[]) => basename(program) === 'postgres' || program.startsWith('postgres: ')

function readCommand(pid: string): string[] {
  if (!/^\d+$/.test(pid)) return []
  return tryTo(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')) ?? []
}

const sendSignal = (pid: number, signal: NodeJS.Signals) => tryTo(() => process.kill(pid, signal))

/** Processes and their files may vanish at any moment, and those of others may be closed to us. */
function tryTo<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
