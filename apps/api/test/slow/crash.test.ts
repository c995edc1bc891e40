// Killed in the middle of writes, service or database: nothing that was acknowledged is lost, and the next start is clean.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { call, type ServiceProcess, spawnService } from '../support/processes.ts'

const WRITERS = 6

/** Writes until the service stops answering, and tells what had been acknowledged by then. */
async function writeUntilDeath(service: ServiceProcess): Promise<string[]> {
  const acknowledged: string[] = []
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; ; i++) {
        try {
          const isSeat = i % 5 === 0
          const reply = isSeat
            ? await call(service, 'POST', '/v1/seats', {
                name: `${writer}-${i}-${Date.now()}`,
                spaces: [service.space],
                permissions: ['a:b'],
              })
            : await call(service, 'POST', `/v1/spaces/${service.space}/data-models`, { name: `${writer}-${i}` })
          if (reply.status === 200)
            acknowledged.push(
              isSeat ? `/v1/seats/${reply.body.id}` : `/v1/spaces/${service.space}/data-models/${reply.body.id}`,
            )
          else if (reply.status >= 500) return
        } catch {
          return
        }
      }
    }),
  )
  return acknowledged
}

const victims: Record<string, (service: ServiceProcess, dataDir: string) => void> = {
  'the service': ({ child }) => child.kill('SIGKILL'),
  'the database': (_service, dataDir) => {
    const [pid] = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
    process.kill(Number(pid), 'SIGKILL')
  },
}

for (const [victim, strike] of Object.entries(victims)) {
  test(`kill -9 of ${victim} during writes loses nothing acknowledged`, async (t) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'amphi-crash-'))
    let total = 0
    try {
      for (let round = 0; round < 3; round++) {
        const service = await spawnService({ DATA_DIR: dataDir })
        const written = writeUntilDeath(service)
        await new Promise((resolve) => setTimeout(resolve, 1000 + Math.random() * 1000))
        strike(service, dataDir)
        const acknowledged = await written
        await service.kill('SIGKILL')
        total += acknowledged.length

        const again = await spawnService({ DATA_DIR: dataDir })
        for (const path of acknowledged) assert.equal((await call(again, 'GET', path)).status, 200, path)
        await again.kill('SIGTERM')
      }
      t.diagnostic(`${total} acknowledged writes, all found again`)
      assert.ok(total > 100)
    } finally {
      await rm(dataDir, { recursive: true, force: true })
    }
  })
}

test('a service told to stop finishes what it accepted', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'amphi-stop-'))
  const service = await spawnService({ DATA_DIR: dataDir })
  const accepted = Array.from({ length: 20 }, (_, i) =>
    call(service, 'POST', `/v1/spaces/${service.space}/data-models`, { name: `m${i}` }),
  )
  await Promise.race(accepted)
  await service.kill('SIGTERM')
  const done = (await Promise.allSettled(accepted)).filter(
    (result) => result.status === 'fulfilled' && result.value.status === 200,
  )
  const again = await spawnService({ DATA_DIR: dataDir })
  const { body } = await call(again, 'GET', `/v1/spaces/${again.space}/data-models`)
  assert.ok(body.count >= done.length)
  assert.equal(service.child.exitCode, 0)
  await again.kill('SIGTERM')
  await rm(dataDir, { recursive: true, force: true })
})
