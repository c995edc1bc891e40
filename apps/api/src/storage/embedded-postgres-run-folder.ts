// A private folder for one run of the server: its sockets, and what its programs need while they run.
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RunFolder {
  readonly path: string
  readonly url: string
  /** The value of Postgres' setting unix_socket_directories. */
  readonly socketFolders: string
  remove(): void
}

/** A part of the socket's name only; nothing listens on it. */
export const SOCKET_PORT = 5432

// postgres.js takes a socket's folder from an address only if the host holds a comma, and takes the port for a part of
// the folder's name. libpq sees two hosts, the first of which is the folder without that part: hence two sockets.
const POSTGRES_JS = `,:${SOCKET_PORT}`

/** The folder's name cannot be foreseen, so nobody can occupy it; a link in the data folder leads to it. */
export function makeRunFolder(dataDir: string): RunFolder {
  const link = join(dataDir, 'run')
  removeRun(dataDir, link)
  const path = mkdtempSync(prefixOf(dataDir))
  mkdirSync(join(path, POSTGRES_JS))
  symlinkSync(path, link)
  return {
    path,
    url: `postgres://postgres@${encodeURIComponent(`${path}/,`)}:${SOCKET_PORT}/postgres`,
    socketFolders: `"${path}","${join(path, POSTGRES_JS)}"`,
    remove: () => removeRun(dataDir, link),
  }
}

// A run that was killed together with its supervisor leaves its folder behind. The link may also have come along with a
// copy of another service's data folder, whose run must stay.
function removeRun(dataDir: string, link: string): void {
  const target = readLink(link)
  if (!target) return
  if (target.startsWith(prefixOf(dataDir))) rmSync(target, { recursive: true, force: true })
  rmSync(link)
}

function prefixOf(dataDir: string): string {
  const { dev, ino } = statSync(dataDir)
  // A socket's path may have 107 bytes, of which ours needs up to 55 below the folder for temporary files.
  const temporary = Buffer.byteLength(tmpdir()) <= 52 ? tmpdir() : '/tmp'
  return join(temporary, `amphi-${dev.toString(36)}-${ino.toString(36)}-`)
}

function readLink(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
