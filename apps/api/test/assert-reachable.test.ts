// The look at the operator's database before a start: what is on its way is waited for.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { assertReachable } from '../src/storage/assert-reachable.ts'
import { cloneDatabase } from './support/databases.ts'

const HANG_UPS = 5

test('a proxy that hangs up until its database is there is tried again', async (t) => {
  const database = await cloneDatabase()
  t.after(() => database.drop())
  const { hostname, port, pathname } = new URL(database.url)
  const path = `${decodeURIComponent(hostname)}:${port}/.s.PGSQL.${port}`
  let calls = 0
  const proxy = createServer((client) => {
    if (++calls <= HANG_UPS) return client.destroy()
    const upstream = connect(path)
    client.pipe(upstream).pipe(client)
  })
  t.after(() => proxy.close())
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const { port: place } = proxy.address() as AddressInfo
  await assertReachable(`postgres://postgres@127.0.0.1:${place}${pathname}`, () => assert.fail('it took too long'))
  assert.equal(calls, HANG_UPS + 1)
})
