// What access control costs: an authorised GET beside a bare route with the same SQL, one decision, and deep pages.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { isAllowed } from '../src/access/authorize.ts'
import type { Caller } from '../src/access/caller.ts'
import { Snapshot } from '../src/access/snapshot.ts'
import { newId } from '../src/base/ids.ts'
import { startPostgres } from '../src/storage/embedded-postgres.ts'
import { connect } from '../src/storage/sql.ts'
import { call, type ServiceProcess, spawnService } from '../test/support/processes.ts'
import { median, report, throughput } from './support/measure.ts'

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 32

const dataDir = await mkdtemp(join(tmpdir(), 'amphi-bench-'))
const postgres = await startPostgres({ dataDir })
const service = await spawnService({ DATABASE_URL: postgres.url, SECRETS_KEY: 'a key for the length of a benchmark' })
const { body: seat } = await call(service, 'POST', '/v1/seats', {
  name: 'bench',
  spaces: [service.space],
  permissions: ['x:get'],
})
const bare = await startBare(postgres.url, seat.id, service.space)

const ours: number[] = []
const theirs: number[] = []
const target = { url: `${service.url}/v1/seats/${seat.id}`, token: service.token }
await throughput(target, CONNECTIONS, 2)
await throughput({ url: bare.url }, CONNECTIONS, 2)
for (let round = 0; round < ROUNDS; round++) {
  ours.push(await throughput(target, CONNECTIONS, SECONDS))
  theirs.push(await throughput({ url: bare.url }, CONNECTIONS, SECONDS))
}
report('authorised GET of a seat, requests/s', median(ours))
report('bare route with the same SQL, requests/s', median(theirs))
report('ratio (at least 0.8)', median(ours.map((value, i) => value / theirs[i]!)))

report('one decision at 10,000 seats, µs (under 2)', decisionMicroseconds())
await pages(service, postgres.url)

bare.child.kill()
await service.kill('SIGTERM')
await postgres.stop()
await rm(dataDir, { recursive: true, force: true })

async function startBare(url: string, seatId: string, space: string) {
  const file = fileURLToPath(new URL('support/bare-route.ts', import.meta.url))
  const child = spawn(process.execPath, [file, url, seatId, space], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, url: `http://127.0.0.1:${line}/` }
}

function decisionMicroseconds(): number {
  const snapshot = new Snapshot()
  const spaces = Array.from({ length: 100 }, newId)
  const seats = Array.from({ length: 10_000 }, (_, i) => ({
    tenant_id: 't',
    id: newId(),
    name: `seat-${i}`,
    permissions: ['trainings:list', 'trainings:get', 'chats:create'],
    spaces: [spaces[i % 100]!],
  }))
  snapshot.apply({ epoch: 0, whole: true, changedSeats: [], seats, endedLogins: [], changedKeys: [], keys: [] })
  const callers = seats.slice(0, 1000).map(({ name, spaces: [space] }): Caller => {
    const namesBySpace = new Map([[space!, ['seat-gone', name]]])
    return {
      tenantId: 't',
      userId: 'u',
      email: undefined,
      name: undefined,
      sso: true,
      loginId: '',
      expiresAt: 0,
      seatNames: [name],
      namesBySpace,
    }
  })
  const decisions = 2_000_000
  const once = () => {
    const began = performance.now()
    let allowed = 0
    for (let i = 0; i < decisions; i++)
      if (isAllowed(snapshot, callers[i % 1000]!, spaces[i % 100]!, 'chats:create')) allowed++
    if (allowed !== decisions) throw new Error('The benchmark decides wrongly')
    return ((performance.now() - began) * 1000) / decisions
  }
  once()
  return median([once(), once(), once()])
}

/** 100,000 seats, twenty a page: the first page and the five-thousandth. */
async function pages(service: ServiceProcess, url: string): Promise<void> {
  const sql = connect(url, { max: 1, role: 'amphi_system', statementTimeoutMs: 0 })
  const ids = Array.from({ length: 100_000 }, () => newId())
  await sql`
    insert into seats (tenant_id, id, name, permissions, created_by)
    select 'acme', id, 'page-' || n, '{x:get}', 'bench' from unnest(${ids}::uuid[]) with ordinality as given (id, n)`
  await sql`
    insert into seat_spaces (tenant_id, seat_id, space_id, position)
    select 'acme', id, ${service.space}, 1 from unnest(${ids}::uuid[]) as given (id)`
  await sql`analyze`
  await sql.end()
  const deep = ids[ids.length - 20 * 4999]!
  const timeOf = async (query: string) => {
    const began = performance.now()
    const { status, body } = await call(service, 'GET', `/v1/seats${query}`)
    if (status !== 200 || body.data.length !== 20) throw new Error('The benchmark reads a wrong page')
    return performance.now() - began
  }
  const first: number[] = []
  const last: number[] = []
  for (let i = 0; i < 60; i++) {
    first.push(await timeOf(''))
    last.push(await timeOf(`?after=${deep}`))
  }
  report('page 1 of 100,000 seats, ms', median(first))
  report('page 5,000, ms', median(last))
  report('ratio (within 1.5)', median(last) / median(first))
}
