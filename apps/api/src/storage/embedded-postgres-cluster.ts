// The files of a Postgres server: made complete or not at all, of the version we carry, and owned by who runs it.
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CannotStart } from '../base/cannot-start.ts'
import { type Binaries, giveTo, type Identity } from './embedded-postgres-binaries.ts'
import { DATA_FOLDER, supervise } from './embedded-postgres-supervisor.ts'

const INITDB = [
  `--pgdata=${DATA_FOLDER}`,
  '--username=postgres',
  '--encoding=UTF8',
  // Text is ordered by code point: fast, and the same on every machine.
  '--locale-provider=builtin',
  '--locale=C.UTF-8',
  '--data-checksums',
  // The socket lies in a folder that nobody else can enter, which is all the proof of identity there is.
  '--auth-local=trust',
  '--auth-host=reject',
  '--no-instructions',
]

export async function prepareCluster(folder: string, identity: Identity, binaries: Binaries): Promise<void> {
  await removeUnfinished(folder)
  if (!existsSync(folder)) await createCluster(folder, identity, binaries)
  const version = join(folder, 'PG_VERSION')
  if (!existsSync(version))
    throw new CannotStart(`The folder ${folder} holds no Postgres database. Move it away and start again`)
  const found = readFileSync(version, 'utf8').trim()
  if (found !== binaries.majorVersion) {
    throw new CannotStart(
      `The folder ${folder} holds a database of Postgres ${found}, and this service carries Postgres ` +
        `${binaries.majorVersion}. Dump it with the release that wrote it (pg_dumpall), move the folder away, ` +
        'start again and load the dump',
    )
  }
  if (statSync(folder).uid !== identity.uid) giveTo(identity, folder)
  // A folder copied back from elsewhere is often open to others, which Postgres refuses.
  chmodSync(folder, 0o700)
}

async function createCluster(folder: string, identity: Identity, binaries: Binaries): Promise<void> {
  const unfinished = mkdtempSync(`${folder}.new-`)
  giveTo(identity, unfinished)
  const initdb = supervise(identity, binaries, { program: 'initdb', args: INITDB, folder: unfinished })
  const code = await initdb.ended
  if (code !== 0) {
    await removeUnfinished(folder)
    throw new CannotStart(`Postgres could not create a database in ${folder}:\n${initdb.lastWords()}`)
  }
  renameSync(unfinished, folder)
  syncFolder(dirname(folder))
}

async function removeUnfinished(folder: string): Promise<void> {
  const parent = dirname(folder)
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(`${basename(folder)}.new-`)) continue
    // An initdb that is just ending may still add files.
    await rm(join(parent, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  }
}

function syncFolder(folder: string): void {
  const open = openSync(folder, 'r')
  fsyncSync(open)
  closeSync(open)
}
