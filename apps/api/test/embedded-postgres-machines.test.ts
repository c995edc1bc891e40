// The embedded server starts on machines and folders in every state, or says clearly why it cannot.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { startPostgres } from '../src/storage/embedded-postgres.ts'
import { chooseIdentity, prepareBinaries } from '../src/storage/embedded-postgres-binaries.ts'
import { START_AND_STOP, startService, until } from './support/postgres-services.ts'

const NOBODY = { uid: 65534, gid: 65534 }
const SRC = fileURLToPath(new URL('../src/', import.meta.url))
const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`
const INSTALLED = dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE))))
const isRoot = process.getuid!() === 0
const LIST = ['-e', 'fs.readdirSync(process.argv[1])', SRC]
const isRootWithNobody = isRoot && spawnSync(process.execPath, LIST, { ...NOBODY }).status === 0
const canMount = isRoot && spawnSync('unshare', ['--mount', '--', 'true']).status === 0

const root = fs.mkdtempSync(join(tmpdir(), 'embedded-postgres-'))
const template = join(root, 'template')

before(async () => (await startPostgres({ dataDir: template })).stop())
after(() => fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

function aFolder(parent = root): string {
  const dataDir = fs.mkdtempSync(join(parent, 'data-'))
  fs.cpSync(template, dataDir, { recursive: true })
  return dataDir
}

/** A copy of the code, which finds no programs. */
function aCheckout(parent: string): string {
  const app = fs.mkdtempSync(join(parent, 'app-'))
  for (const file of fs.globSync(['storage/embedded-postgres*.ts', 'base/*.ts'], { cwd: SRC }))
    fs.cpSync(join(SRC, file), join(app, file))
  return app
}

const moduleOf = (app: string) => pathToFileURL(join(app, 'storage/embedded-postgres.ts'))

/** Leaves programs as npm does when it skips install scripts, and returns their folder. */
function install(app: string): string {
  const copy = join(app, 'node_modules', PACKAGE)
  fs.cpSync(INSTALLED, copy, { recursive: true, filter: (file) => !fs.lstatSync(file).isSymbolicLink() })
  return join(copy, 'native/bin')
}

test('a stale postmaster.pid whose number belongs to another program does not block', async () => {
  const dataDir = aFolder()
  const text = [process.pid, '/elsewhere', 1_700_000_000, 5432, '/tmp', '', '1 2', 'ready   ', ''].join('\n')
  fs.writeFileSync(join(dataDir, 'postgres/postmaster.pid'), text)
  await (await startPostgres({ dataDir })).stop()
})

test('a folder with a path of more than 150 characters serves', async () => {
  const parent = join(root, 'x'.repeat(90), 'y'.repeat(90))
  fs.mkdirSync(parent, { recursive: true })
  await (await startPostgres({ dataDir: aFolder(parent) })).stop()
})

test('a kill during the first start leaves nothing that blocks the next', async () => {
  const dataDir = join(root, 'interrupted')
  const service = startService(START_AND_STOP, dataDir)
  await until(() => fs.globSync(join(dataDir, 'postgres.new-*/base/1/*')).length > 0, 5_000)
  service.process.kill('SIGKILL')
  await once(service.process, 'exit')
  await (await startPostgres({ dataDir })).stop()
  assert.deepEqual(fs.readdirSync(dataDir).sort(), ['lock', 'postgres'])
})

test('a folder of another major version is refused with advice', async () => {
  const dataDir = aFolder()
  fs.writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '17\n')
  await assert.rejects(startPostgres({ dataDir }), /holds a database of Postgres 17.*pg_dumpall/)
})

test('a damaged folder is reported in the words of Postgres, and starts when it is mended', async () => {
  const dataDir = aFolder()
  const control = join(dataDir, 'postgres/global/pg_control')
  fs.renameSync(control, `${control}.away`)
  await assert.rejects(startPostgres({ dataDir }), /did not start on .*could not find the database system/s)
  fs.renameSync(`${control}.away`, control)
  await (await startPostgres({ dataDir })).stop()
})

test('a folder that cannot be made is named', async () => {
  fs.writeFileSync(join(root, 'file'), '')
  await assert.rejects(startPostgres({ dataDir: join(root, 'file/data') }), /ENOTDIR.*file\/data/)
})

test('a full disk is reported in the words of Postgres', { skip: !canMount && 'needs a mount' }, async () => {
  const dataDir = join(root, 'full')
  fs.mkdirSync(dataDir)
  const through = ['unshare', '--mount', '--', 'sh', '-c', 'mount -t tmpfs -o size=12m none "$0" && exec "$@"', dataDir]
  const service = startService(START_AND_STOP, dataDir, { through })
  assert.match(await service.line(), /could not create a database in .*No space left on device/s)
})

test('an ordinary user runs it plainly', {
  skip: !isRootWithNobody && 'needs root and a checkout open to all',
}, async () => {
  fs.chmodSync(root, 0o711)
  const dataDir = fs.mkdtempSync(join(root, 'nobody-'))
  fs.chownSync(dataDir, NOBODY.uid, NOBODY.gid)
  const service = startService(START_AND_STOP, dataDir, NOBODY)
  assert.equal(await service.line(), 'done')
  assert.equal(fs.statSync(join(dataDir, 'postgres')).uid, NOBODY.uid)
})

test('an ordinary user without a name runs it', {
  skip: !isRootWithNobody && 'needs root and a checkout open to all',
}, async () => {
  fs.chmodSync(root, 0o711)
  const dataDir = fs.mkdtempSync(join(root, 'nameless-'))
  fs.chownSync(dataDir, 54_321, 54_321)
  const service = startService(START_AND_STOP, dataDir, { uid: 54_321, gid: 54_321 })
  assert.equal(await service.line(), 'done')
})

test('what the installation of the programs left undone is made up for', async () => {
  const app = aCheckout(root)
  const programs = install(app)
  const start = () => startService(START_AND_STOP, aFolder(), { module: moduleOf(app) }).line()
  assert.equal(await start(), 'done')
  for (const file of fs.readdirSync(programs)) fs.chmodSync(join(programs, file), 0o644)
  assert.equal(await start(), 'done')
})

test('an installation without the programs is named', async () => {
  const service = startService(START_AND_STOP, aFolder(), { module: moduleOf(aCheckout(root)) })
  assert.match(await service.line(), /programs of the package .* are missing/)
})

const WITHOUT_NAMESPACES =
  'echo ready; read -r _; exec sh -c \'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"\' sh "$@"'

test('root without namespaces runs it as nobody, in folders that nobody can enter', {
  skip: !isRoot && 'needs root',
}, async () => {
  const closed = fs.mkdtempSync(join(root, 'closed-'))
  const app = aCheckout(closed)
  install(app)
  const service = startService(START_AND_STOP, join(closed, 'data'), {
    module: moduleOf(app),
    through: ['unshare', '--user', '--', 'sh', '-c', WITHOUT_NAMESPACES, 'sh'],
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  assert.equal(await service.line(), 'ready')
  for (const map of ['uid_map', 'gid_map']) fs.writeFileSync(`/proc/${service.process.pid}/${map}`, '0 0 65536')
  service.process.stdin!.end('go\n')
  assert.equal(await service.line(), 'done')
  assert.equal(fs.statSync(join(closed, 'data/postgres')).uid, NOBODY.uid)
  // With namespaces the folder is root's again.
  await (await startPostgres({ dataDir: join(closed, 'data') })).stop()
})

test('a server that somebody runs there by hand is left alone', async (t) => {
  const dataDir = aFolder()
  const folder = join(dataDir, 'postgres')
  fs.chmodSync(folder, 0o700)
  const sockets = fs.mkdtempSync(join(root, 'by-hand-'))
  const identity = chooseIdentity()
  const { folder: programs, env } = prepareBinaries(identity, sockets)
  const [command, ...args] = [...identity.prefix, join(programs, 'postgres'), '-D', folder, '-k', sockets, '-h', '']
  const byHand = spawn(command!, args, { ...identity.ids, env, stdio: 'ignore' })
  t.after(async () => {
    byHand.kill('SIGINT')
    await once(byHand, 'exit')
  })
  await until(() => fs.globSync(join(sockets, '.s.PGSQL.*.lock')).length > 0, 5_000)
  await assert.rejects(startPostgres({ dataDir }), new RegExp(`Is another postmaster \\(PID ${byHand.pid}\\) running`))
  assert.equal(byHand.exitCode, null)
})
