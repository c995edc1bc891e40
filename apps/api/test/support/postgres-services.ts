// Services that start a Postgres of their own in a process of their own, for tests to kill.
import assert from 'node:assert/strict'
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { endWithTests } from './end-with-tests.ts'

const POSTGRES_JS = import.meta.resolve('postgres')
const MODULE = new URL('../../src/storage/embedded-postgres.ts', import.meta.url)

export const START_AND_STOP = `
  try {
    await (await startPostgres({ dataDir })).stop()
    console.log('done')
  } catch (error) {
    console.log(JSON.stringify(error.message))
  }`

/** Prints the postmaster's number, then that of each row once it is acknowledged. */
export const WRITE_FOREVER = `
  const { pid, url } = await startPostgres({ dataDir })
  console.log(pid)
  const client = postgres(url, { max: 1 })
  for (let id = 1; ; id++) {
    await client\`insert into notes values (\${id})\`
    console.log(id)
  }`

export interface Service {
  readonly process: ChildProcess
  line(): Promise<string>
  lines: AsyncIterable<string>
}

export interface ServiceOptions extends SpawnOptions {
  readonly module?: URL
  /** A command that runs the service. */
  readonly through?: readonly string[]
}

/** Runs a program that has startPostgres, postgres and dataDir at hand. */
export function startService(program: string, dataDir: string, options: ServiceOptions = {}): Service {
  const { module = MODULE, through = [], ...spawnOptions } = options
  const source = `
    import { startPostgres } from '${module}'
    import postgres from '${POSTGRES_JS}'
    const dataDir = ${JSON.stringify(dataDir)}
    ${program}`
  const [command, ...args] = [...through, process.execPath, '--input-type=module', '-e', source]
  const child = endWithTests(spawn(command!, args, { stdio: ['ignore', 'pipe', 'inherit'], ...spawnOptions }))
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  return {
    process: child,
    lines: { [Symbol.asyncIterator]: () => lines },
    line: async () => {
      const { value, done } = await lines.next()
      assert.ok(!done, 'The service ended without saying more')
      return value
    },
  }
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = postgres(url, { max: 1 })
  try {
    return [...(await client.unsafe(text))].map((row) => ({ ...row }))
  } finally {
    await client.end()
  }
}

export async function until(condition: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    assert.ok(performance.now() < deadline, `Not so within ${timeoutMs} ms: ${condition}`)
    await delay(10)
  }
}

/** A process that nobody has reaped yet counts as ended. */
export const hasEnded = (pid: number) => (statOf(pid)?.state ?? 'Z') === 'Z'

/** Kills whatever watches over a postmaster, and leaves that alone. */
export function killSupervisor(postmaster: number): number {
  const supervisor = statOf(postmaster)!.parent
  const watchers = readdirSync('/proc')
    .map(Number)
    .filter((pid) => statOf(pid)?.parent === supervisor)
  for (const pid of [...watchers, supervisor]) if (pid !== postmaster) process.kill(pid, 'SIGKILL')
  return supervisor
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { state: state!, parent: Number(parent) }
  } catch {
    return undefined
  }
}
