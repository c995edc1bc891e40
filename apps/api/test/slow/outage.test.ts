// The database goes away and comes back: requests are refused clearly meanwhile, and the process lives through it.
import assert from 'node:assert/strict'
import { createServer, connect as dial, type Socket } from 'node:net'
import { test } from 'node:test'
import { cloneDatabase } from '../support/databases.ts'
import { call, spawnService } from '../support/processes.ts'
import { until } from '../support/service.ts'

/** Stands between service and database, so that the line can be cut. */
async function aLine(databaseUrl: string) {
  const { hostname, port, pathname } = new URL(databaseUrl)
  const folder = decodeURIComponent(hostname)
  const target = folder.includes('/')
    ? { path: `${folder}:${port}/.s.PGSQL.${port}` }
    : { host: folder, port: Number(port) }
  const sockets = new Set<Socket>()
  let cut = false
  const server = createServer((near) => {
    if (cut) return near.destroy()
    const far = dial(target as never)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          near.destroy()
          far.destroy()
        })
    }
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `postgres://postgres@127.0.0.1:${(server.address() as { port: number }).port}${pathname}`,
    cut() {
      cut = true
      for (const socket of sockets) socket.destroy()
    },
    mend() {
      cut = false
    },
    close: () => server.close(),
  }
}

test('without its database the service refuses with 503 and stays alive; with it, everything goes on', async () => {
  const database = await cloneDatabase()
  const line = await aLine(database.url)
  const service = await spawnService({ DATABASE_URL: line.url, SECRETS_KEY: 'a key for the length of an outage test' })
  try {
    const models = `/v1/spaces/${service.space}/data-models`
    const made = await call(service, 'POST', models, { name: 'before' })
    assert.equal(made.status, 200)
    for (let round = 0; round < 3; round++) {
      line.cut()
      await until('reads are refused', async () => (await call(service, 'GET', models)).status === 503)
      const { status, body } = await call(service, 'POST', models, { name: 'during' })
      assert.deepEqual([status, body.error.code], [503, 'database_unavailable'])
      assert.equal((await call(service, 'GET', '/health/live')).status, 200)
      assert.equal((await call(service, 'GET', '/health/ready')).status, 503)
      // Longer than a lease: now access itself cannot be decided, and that fails closed.
      if (round === 0) {
        await new Promise((resolve) => setTimeout(resolve, 3500))
        assert.equal((await call(service, 'GET', models)).status, 503)
      }
      line.mend()
      await until(
        'the service is ready again',
        async () => (await call(service, 'GET', '/health/ready')).status === 200,
      )
      await until('reads are answered again', async () => (await call(service, 'GET', models)).status === 200)
      const seat = await call(service, 'POST', '/v1/seats', {
        name: `round-${round}`,
        spaces: [service.space],
        permissions: [],
      })
      assert.equal(seat.status, 200, JSON.stringify(seat.body))
    }
    assert.equal(service.child.exitCode, null)
  } finally {
    line.mend()
    await service.kill('SIGTERM')
    line.close()
    await database.drop()
  }
})

test('a service whose database is away still stops when it is told to', async () => {
  const database = await cloneDatabase()
  const line = await aLine(database.url)
  const service = await spawnService({ DATABASE_URL: line.url, SECRETS_KEY: 'a key for the length of an outage test' })
  line.cut()
  const began = performance.now()
  await service.kill('SIGTERM')
  assert.ok(performance.now() - began < 20_000)
  line.close()
  await database.drop()
})
