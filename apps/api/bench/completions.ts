// What a chat completion costs here: authorised, logged and kept, beside a bare proxy and beside Portkey, on one model server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { startMain } from '../test/support/main-process.ts'
import { median, report, type Target, throughput } from './support/measure.ts'
import { startPeer } from './support/peer-process.ts'

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 7)
/** The first second of a slice still pays for opening connections, and for waking up. */
const SECONDS = 6
/** Calls of models are long, so many are under way at one time: some hundreds in a company, which is what the goals are for. */
const MANY = 256
/** In a team. */
const FEW = 64
/** Until the compiler has seen enough, in each process: the numbers still rise for the first twenty seconds. */
const WARM_UP_SECONDS = 30
const MEMORY_REQUESTS = Number(process.env['BENCH_MEMORY_REQUESTS'] ?? 100_000)

const model = await startPeer('model-server')
const bare = await startPeer('bare-proxy', model.url)
const portkey = await startPortkey()
// As `npm start` starts it: with the Postgres it brings along, and a process for each core.
const service = await startMain({
  INFERENCE_URL: `${model.url}/v1`,
  RATE_LIMIT_USER_PER_SECOND: '0',
  RATE_LIMIT_TENANT_PER_SECOND: '0',
})
const { token, space } = await service.signIn('ana')

const body = { model: 'bench', messages: [{ role: 'user', content: 'What is the answer?' }] }
const targets = {
  ours: { url: `${service.url}/v1/spaces/${space}/chat/completions`, token, body },
  bare: { url: `${bare.url}/v1/chat/completions`, body },
  portkey: {
    url: `${portkey.url}/v1/chat/completions`,
    headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${model.url}/v1` },
    token: 'none',
    body,
  },
} satisfies Record<string, Target>

await plainAnswers()
await firstBytes()
await memory()

for (const { child } of [model, bare, portkey]) child.kill()
await service.stop()

async function plainAnswers(): Promise<void> {
  const names = ['ours', 'bare', 'portkey'] as const
  for (const name of names) await throughput(targets[name], MANY, WARM_UP_SECONDS)
  for (const connections of [MANY, FEW]) {
    const rates = { ours: [] as number[], bare: [] as number[], portkey: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      for (const name of names) rates[name].push(await throughput(targets[name], connections, SECONDS))
    }
    const at = `at ${connections} connections`
    report(`chat completion, authorised, logged, kept, requests/s ${at}`, median(rates.ours))
    report(`bare proxy, requests/s ${at}`, median(rates.bare))
    report(`Portkey, requests/s ${at}`, median(rates.portkey))
    const isGoal = connections === MANY
    report(`ratio to the bare proxy ${at}${isGoal ? ' (at least 0.6)' : ''}`, ratio(rates.ours, rates.bare))
    report(`ratio to Portkey ${at}${isGoal ? ' (at least 5)' : ''}`, ratio(rates.ours, rates.portkey))
  }
  const ours = await latencies(targets.ours, body, 'end', 300)
  const theirs = await latencies(targets.bare, body, 'end', 300)
  report('added latency of one completion at a time, ms', median(ours) - median(theirs))
}

/** Of slices that followed each other: the machine's own pace changes in the meantime. */
function ratio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((rate, i) => rate / theirs[i]!))
}

async function firstBytes(): Promise<void> {
  const streamed = { ...body, stream: true }
  const rounds = []
  const words = []
  for (let round = 0; round < 3; round++) {
    const theirs = median(await latencies(targets.bare, streamed, 'byte', 200))
    rounds.push(median(await latencies(targets.ours, streamed, 'byte', 200)) - theirs)
    words.push(median(await latencies(targets.ours, streamed, 'data', 200)) - theirs)
  }
  report('stream, first byte after the bare proxy’s, ms p50 (under 2)', median(rounds))
  report('stream, first word after the bare proxy’s, ms p50', median(words))
}

/** One request after the other: until the first byte, the first event, or the end. */
async function latencies({ url, token, headers }: Target, sent: object, until: 'byte' | 'data' | 'end', count: number) {
  const agent = new Agent({ connections: 1 })
  const times: number[] = []
  for (let i = 0; i < count + 20; i++) {
    const began = performance.now()
    const answer = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(sent),
    })
    let at = 0
    for await (const chunk of answer.body) {
      if (at === 0 && (until === 'byte' || (until === 'data' && String(chunk).includes('data:'))))
        at = performance.now()
    }
    if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
    if (i >= 20) times.push((at || performance.now()) - began)
  }
  await agent.close()
  return times
}

/** The first part warms up; after it the memory must not grow with the requests. */
async function memory(): Promise<void> {
  const rss = async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const sizes = [...text.matchAll(/^process_resident_memory_bytes\{.*\} (\S+)/gm)].map(([, size]) => Number(size))
    return sizes.reduce((sum, size) => sum + size) / 2 ** 20
  }
  const seconds = 5
  let answered = 0
  const sizes: number[] = []
  while (answered < MEMORY_REQUESTS) {
    answered += (await throughput(targets.ours, MANY, seconds)) * seconds
    sizes.push(await rss())
  }
  const half = Math.floor(sizes.length / 2)
  report('requests answered for the memory test', answered)
  report('resident memory of all processes, first half, MiB', median(sizes.slice(0, half)))
  report('resident memory of all processes, second half, MiB', median(sizes.slice(half)))
}

async function startPortkey() {
  const port = await freePort()
  const entry = createRequire(import.meta.url).resolve('@portkey-ai/gateway/package.json')
  const child = spawn(process.execPath, [join(entry, '../build/start-server.js'), `--port=${port}`, '--headless'], {
    stdio: 'ignore',
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; ; tries++) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return { child, url }
    if (tries > 200 || child.exitCode !== null) throw new Error('Portkey does not start')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
