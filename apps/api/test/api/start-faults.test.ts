// What keeps the service from starting is told in one sentence, whether one process was to serve or several.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { claimFolder } from '../../src/storage/embedded-postgres-claim.ts'
import { cloneDatabase } from '../support/databases.ts'
import { startMain } from '../support/main-process.ts'

/** A line that stands alone: no stack, nothing said twice. */
const only = (sentence: string) => new RegExp(`^Error: The service ended with 1: ${sentence}\\n$`)

for (const PROCESSES of ['1', '2']) {
  describe(PROCESSES === '1' ? 'one process' : 'several processes', () => {
    let database: Awaited<ReturnType<typeof cloneDatabase>>
    before(async () => {
      database = await cloneDatabase()
    })
    after(() => database.drop())

    const refused = (env: Record<string, string>, sentence: string) =>
      assert.rejects(startMain({ PROCESSES, ...env }), only(sentence))

    test('a port that another program has is named, and what to do about it', async (t) => {
      const stranger = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
      t.after(() => stranger.close())
      await once(stranger, 'listening')
      const { port } = stranger.address() as AddressInfo
      await refused(
        { PORT: String(port) },
        `PORT ${port} on 127\\.0\\.0\\.1 is in use: .* set PORT to another \\(EADDRINUSE\\)`,
      )
    })

    test('a host that is not this machine’s is named', async () => {
      await refused({ HOST: '192.0.2.1' }, 'HOST 192\\.0\\.2\\.1 is no address of this machine: .* \\(EADDRNOTAVAIL\\)')
      await refused({ HOST: 'nowhere.invalid' }, 'HOST nowhere\\.invalid is no address of this machine: .*')
    })

    test('a database that does not answer is named by its variable, without its password', async () => {
      const sentence =
        'DATABASE_URL names a database that cannot be reached: .* \\(connect ECONNREFUSED 127\\.0\\.0\\.1:1\\)'
      await refused({ DATABASE_URL: 'postgres://ana:hush@127.0.0.1:1/b' }, sentence)
    })

    test('a database that refuses us is quoted', async () => {
      const nobody = database.url.replace('postgres@', 'nobody:hush@')
      await refused(
        { DATABASE_URL: nobody },
        'DATABASE_URL names a database that refuses us: role "nobody" .* \\(28000\\)',
      )
      const nothing = database.url.replace(/[^/]+$/, 'nothing')
      await refused(
        { DATABASE_URL: nothing },
        'DATABASE_URL names a database that refuses us: database "nothing" does not exist \\(3D000\\)',
      )
    })

    test('a data folder that is none, or that another service has, is named', async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'amphi-start-'))
      t.after(() => rm(folder, { recursive: true }))
      const claim = claimFolder(folder)
      t.after(claim.release)
      await refused({ DATA_DIR: folder }, `Cannot use the data folder ${folder}: another process uses it.*`)
      const file = join(folder, 'lock')
      await refused({ DATA_DIR: file }, `Cannot use the data folder ${file}: set DATA_DIR to .* \\(EEXIST.*\\)`)
    })
  })
}
