// Measuring: throughput from another process, medians, and one way to print.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Load, LoadResult } from './load.ts'

const LOAD = fileURLToPath(new URL('load.ts', import.meta.url))

export interface Target {
  readonly url: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON by POST; without it the request is a GET. */
  readonly body?: object
}

/** Requests answered per second. The load comes from a process of its own, so that it does not slow the service's loop. */
export async function throughput(target: Target, connections: number, seconds: number): Promise<number> {
  const { url, token, body } = target
  const load: Load = {
    url,
    connections,
    seconds,
    method: body ? 'POST' : 'GET',
    headers: {
      ...target.headers,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body ? JSON.stringify(body) : '',
  }
  const child = spawn(process.execPath, [LOAD, JSON.stringify(load)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const result = JSON.parse(output) as LoadResult
  if (result.failed > 0) throw new Error(`${url} failed ${result.failed} times under load`)
  return result.answered / result.seconds
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function report(what: string, value: number): void {
  const digits = value < 10 ? 3 : value < 1000 ? 1 : 0
  console.log(`${what.padEnd(76)} ${value.toFixed(digits)}`)
}
