// Several processes that serve one address: to a client they are one service.
import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { connect } from '../../src/storage/sql.ts'
import { cloneDatabase } from '../support/databases.ts'
import { startMain } from '../support/main-process.ts'
import { says, scriptedUpstream } from '../support/scripted-upstream.ts'
import { until } from '../support/service.ts'

type Main = Awaited<ReturnType<typeof startMain>>

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number)
const isServing = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('src/main.ts')
const servingOf = ({ child }: { child: ChildProcess }): number[] => childrenOf(child.pid!).filter(isServing)

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** On a connection of its own, so that any process may get it. */
async function send(method: string, url: string, token = '', body?: object): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
  const call = request(url, { method, agent: false, headers }).end(body && JSON.stringify(body))
  const [answer] = await once(call, 'response')
  return { status: answer.statusCode, text: await text(answer) }
}

const get = (url: string, token?: string) => send('GET', url, token)

describe('two of them', () => {
  let service: Main
  let token: string
  before(async () => {
    service = await startMain({ PROCESSES: '2', RATE_LIMIT_USER_PER_SECOND: '10' })
    token = (await service.signIn('ana')).token
  })
  after(() => service.stop())

  test('share the connections, and each tells the numbers of both', async () => {
    for (let i = 0; i < 100; i++) assert.equal((await get(`${service.url}/health/live`)).status, 200)
    for (let i = 0; i < 2; i++) {
      const { text } = await get(`${service.url}/metrics`)
      for (const number of [1, 2]) {
        const counted = `amphi_http_request_duration_seconds_count{operation="other",status="2xx",process="${number}"} `
        assert.ok(Number(text.split(counted)[1]?.split('\n')[0]) >= 10, text)
      }
      assert.equal(text.split('# TYPE process_resident_memory_bytes gauge').length, 2)
      assert.match(text, /^process_start_time_seconds\{process="2"\} \d/m)
    }
  })

  test('let in together what one of them would', async () => {
    const began = performance.now()
    let letIn = 0
    for (let wave = 0; wave < 5; wave++) {
      const answers = await Promise.all(Array.from({ length: 30 }, () => get(`${service.url}/v1/users/me`, token)))
      letIn += answers.filter(({ status }) => status === 200).length
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    // Five seconds' worth at once, what came in since, and what one wave may have slipped through unseen.
    const most = 50 + (10 * (performance.now() - began)) / 1000 + 10
    assert.ok(letIn >= 50 && letIn <= most, `${letIn} were let in, at most ${most} may be`)
  })

  test('one that is killed is missed by nobody who comes after, and is soon replaced', async () => {
    const [victim, other] = servingOf(service)
    process.kill(victim!, 'SIGKILL')
    await until('the parent knows', () => !isAlive(victim!))
    for (let i = 0; i < 4; i++) assert.equal((await get(`${service.url}/health/live`)).status, 200)
    await until('there are two again', () => servingOf(service).length === 2)
    assert.ok(servingOf(service).includes(other!))
    await until('the new one answers too', async () =>
      /^amphi_access_lease_current\{process="1"\} 1$/m.test((await get(`${service.url}/metrics`)).text),
    )
  })
})

test('what was answered before one of them is killed is kept, and the others answer on', async (t) => {
  const upstream = await scriptedUpstream(says('Hello'))
  t.after(() => upstream.close())
  const service = await startMain({ PROCESSES: '2', INFERENCE_URL: upstream.url, DEFAULT_MODEL: 'm' })
  t.after(() => service.stop())
  const { token, space } = await service.signIn('ana')
  const body = { messages: [{ role: 'user', content: 'Hi' }] }
  const ask = () => send('POST', `${service.url}/v1/spaces/${space}/chat/completions`, token, body)
  const victim = servingOf(service)[0]!
  const chats: string[] = []
  const askForAWhile = async () => {
    for (let i = 0; i < 12; i++) {
      const wasAlive = isAlive(victim)
      const answer = await ask().catch((error: Error) => error)
      if (answer instanceof Error) {
        // A connection may die with its process, also a new one while that process ends; nothing was promised on it.
        assert.ok(wasAlive, `A call that began after the process was gone failed: ${answer.message}`)
      } else {
        assert.equal(answer.status, 200, answer.text)
        chats.push(JSON.parse(answer.text).id)
      }
    }
  }
  const asking = Promise.all(Array.from({ length: 8 }, askForAWhile))
  await Promise.race([asking, until('some are answered', () => chats.length > 20)])
  process.kill(victim, 'SIGKILL')
  await asking
  for (const id of chats) {
    assert.equal((await get(`${service.url}/v1/spaces/${space}/chats/${id}`, token)).status, 200)
  }
})

test('on a signal all of them finish, and nothing is left', async (t) => {
  const service = await startMain({ PROCESSES: '3' })
  t.after(() => service.stop())
  const family = childrenOf(service.child.pid!)
  assert.equal(servingOf(service).length, 3)
  service.child.kill('SIGTERM')
  assert.deepEqual(await once(service.child, 'exit'), [0, null])
  assert.deepEqual(family.filter(isAlive), [])
})

test('when the parent is killed they end too, and the next start finds its address and its data free', async (t) => {
  const service = await startMain({ PROCESSES: '2' })
  t.after(() => service.stop())
  const serving = servingOf(service)
  service.child.kill('SIGKILL')
  await until('they are gone', () => serving.every((pid) => !isAlive(pid)))
  const next = await startMain({ PROCESSES: '2', PORT: String(service.port), DATA_DIR: service.dataDir })
  await next.stop()
})

test('when the parent is killed before they are ready they end as well', async (t) => {
  // One that outlives the parent, so that nothing else ends them.
  const database = await cloneDatabase()
  t.after(() => database.drop())
  let starting: number[] = []
  const service = await startMain({ PROCESSES: '2', DATABASE_URL: database.url }, async (child) => {
    await until('they are started', () => servingOf({ child }).length === 2)
    starting = servingOf({ child })
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  t.after(() => service.stop())
  await until('they are gone', () => !starting.some(isAlive), 15_000)
})

test('an address that another program serves is not shared with it', async (t) => {
  const stranger = createServer((socket) => socket.destroy()).listen({ port: 0, host: '127.0.0.1', reusePort: true })
  t.after(() => stranger.close())
  await once(stranger, 'listening')
  const { port } = stranger.address() as AddressInfo
  await assert.rejects(startMain({ PROCESSES: '2', PORT: String(port) }), /ended with 1: .*EADDRINUSE/s)
})

test('what keeps one from starting is said, and ends all of it', async (t) => {
  const database = await cloneDatabase()
  t.after(() => database.drop())
  const admin = connect(database.url, { max: 1 })
  await admin`update schema_migrations set sha256 = 'of another file'`
  await admin.end()
  const started = startMain({ PROCESSES: '2', DATABASE_URL: database.url })
  await assert.rejects(
    started,
    /ended with 1: .*Migration .* was changed.*\nA process ended with 1 before all were ready\n$/s,
  )
})
