// Measuring: throughput from another process, medians, and one way to print.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'

const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon')

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
  const sent = {
    ...target.headers,
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json' }),
  }
  const headers = Object.entries(sent).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const post = body ? ['-m', 'POST', '-b', JSON.stringify(body)] : []
  const args = [AUTOCANNON, '-c', String(connections), '-d', String(seconds), '-j', ...headers, ...post, url]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const result = JSON.parse(output) as { non2xx: number; errors: number; '2xx': number; duration: number }
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} answered with errors under load`)
  return result['2xx'] / result.duration
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function report(what: string, value: number): void {
  const digits = value < 10 ? 3 : value < 1000 ? 1 : 0
  console.log(`${what.padEnd(56)} ${value.toFixed(digits)}`)
}
