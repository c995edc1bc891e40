// Access is exact on every replica: three processes, thousands of changes, and processes that stop in the middle of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SigningKeys } from '../../src/access/signing-keys.ts'
import { Tokens } from '../../src/access/tokens.ts'
import { newId } from '../../src/base/ids.ts'
import { Secret } from '../../src/base/secret.ts'
import { openVault } from '../../src/base/vault.ts'
import { connect } from '../../src/storage/sql.ts'
import { cloneDatabase } from '../support/databases.ts'
import { call, type ServiceProcess, spawnService } from '../support/processes.ts'

const SECRETS_KEY = 'a key that the replicas share among themselves'
const REPLICAS = 3

interface Fleet {
  readonly replicas: ServiceProcess[]
  readonly space: string
  /** Bob's token says that he bears the seat; whether that means anything is for the live seat to say. */
  readonly bob: string
  readonly seatId: string
  close(): Promise<void>
}

async function startFleet(args: string[]): Promise<Fleet> {
  const database = await cloneDatabase()
  const env = { DATABASE_URL: database.url, SECRETS_KEY, DATABASE_CONNECTIONS: '4' }
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => spawnService(env, args)))
  const [first] = replicas as [ServiceProcess]
  const { space } = first
  const made = await call(first, 'POST', '/v1/seats', { name: 'flip', spaces: [space], permissions: [] })
  assert.equal(made.status, 200)
  const system = connect(database.url, { max: 1, role: 'amphi_system' })
  const keys = new SigningKeys(system, openVault(new Secret(SECRETS_KEY)))
  await keys.start()
  const tokens = new Tokens(keys, 'http://amphi.test', 3600)
  const { access_token: bob } = await tokens.issue({
    tenantId: 'acme',
    userId: 'bob',
    loginId: newId(),
    hashPerm: [`${space}:flip`],
  })
  await system.end()
  return {
    replicas,
    space,
    bob,
    seatId: made.body.id,
    async close() {
      for (const replica of replicas) replica.child.kill('SIGCONT')
      await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')))
      await database.drop()
    },
  }
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)]!
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Changes the seat back and forth, and asks every replica right after each answer. */
async function flip(
  fleet: Fleet,
  flips: number,
  beforeEach: () => void = () => {},
): Promise<{ stale: number; slowestMs: number }> {
  let stale = 0
  let slowestMs = 0
  for (let i = 0; i < flips; i++) {
    beforeEach()
    const grants = i % 2 === 0
    const writer = pick(fleet.replicas)
    const began = performance.now()
    const { status, body } = await call(writer, 'PUT', `/v1/seats/${fleet.seatId}`, {
      permissions: grants ? ['data-models:list'] : [],
    })
    assert.equal(status, 200, JSON.stringify(body))
    slowestMs = Math.max(slowestMs, performance.now() - began)
    const answers = await Promise.all(
      fleet.replicas.map((replica) =>
        call(replica, 'GET', `/v1/spaces/${fleet.space}/data-models`, undefined, fleet.bob),
      ),
    )
    for (const answer of answers) if (answer.status !== (grants ? 200 : 403)) stale++
  }
  return { stale, slowestMs }
}

/** Keeps the replicas busy with other people's requests until told to stop. */
function load(fleet: Fleet): () => Promise<void> {
  let running = true
  const loops = Array.from({ length: 4 }, async (_, i) => {
    const replica = fleet.replicas[i % REPLICAS]!
    while (running) await call(replica, 'GET', '/v1/seats')
  })
  return async () => {
    running = false
    await Promise.all(loops)
  }
}

test('after the writer is answered no replica decides from before, though replicas stop and resume at random', async (t) => {
  const fleet = await startFleet([])
  const endLoad = load(fleet)
  let stops = 0
  const stopSomeone = () => {
    if (Math.random() > 1 / 120) return
    stops++
    const { child } = pick(fleet.replicas)
    child.kill('SIGSTOP')
    void pause(50 + Math.random() * 4000).then(() => child.kill('SIGCONT'))
  }
  try {
    const { stale, slowestMs } = await flip(fleet, 3000, stopSomeone)
    t.diagnostic(`3000 changes, ${stops} stops, slowest change ${Math.round(slowestMs)} ms, ${stale} stale answers`)
    assert.equal(stale, 0)
    assert.ok(stops > 0)
  } finally {
    for (const { child } of fleet.replicas) child.kill('SIGCONT')
    await endLoad()
    await fleet.close()
  }
})

test('without the barrier the same test sees stale answers, so it can tell', async (t) => {
  const fleet = await startFleet(['--no-barrier'])
  const endLoad = load(fleet)
  try {
    const { stale } = await flip(fleet, 400)
    t.diagnostic(`400 changes without the barrier, ${stale} stale answers`)
    assert.ok(stale > 0)
  } finally {
    await endLoad()
    await fleet.close()
  }
})

test('a replica that is killed delays a change by one lease at most, and never blocks it', async () => {
  const fleet = await startFleet([])
  try {
    await fleet.replicas[2]!.kill('SIGKILL')
    const began = performance.now()
    const { status } = await call(fleet.replicas[0]!, 'PUT', `/v1/seats/${fleet.seatId}`, {
      permissions: ['data-models:list'],
    })
    assert.equal(status, 200)
    assert.ok(performance.now() - began < 6000)
    const again = performance.now()
    await call(fleet.replicas[0]!, 'PUT', `/v1/seats/${fleet.seatId}`, { permissions: [] })
    assert.ok(performance.now() - again < 1500, 'the dead replica is forgotten after the first time')
  } finally {
    await fleet.close()
  }
})

test('replicas that start at once on an empty database set it up once, and agree', async () => {
  const database = await cloneDatabase('template0')
  const env = { DATABASE_URL: database.url, SECRETS_KEY, DATABASE_CONNECTIONS: '2' }
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, () => spawnService(env)))
  try {
    const lists = await Promise.all(
      replicas.map((replica) => call(replica, 'GET', '/v1/seats', undefined, replicas[0]!.token)),
    )
    for (const { status, body } of lists) {
      assert.equal(status, 200)
      assert.deepEqual(body, lists[0]!.body)
      assert.equal(body.count, 1)
    }
  } finally {
    await Promise.all(replicas.map((replica) => replica.kill('SIGTERM')))
    await database.drop()
  }
})
