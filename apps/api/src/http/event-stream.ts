// Sends server-sent events (contract 4.2.3): at the reader's pace, with pings in silence, and never with a quiet end.
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Problem } from '../base/problem.ts'
import type { EventStream } from '../contract/operation.ts'
import { bodyOf, toProblem } from './errors.ts'

const PING_EVERY_MS = 15_000
const PING = ': ping\n\n'
/** A reader who takes nothing for twice as long is gone, whatever the connection says: the first time tells what is left. */
const READING_MS_MAX = 30_000
/** For the last words to whoever may not read on. */
const PARTING_MS_MAX = 5_000

/** Calls `stop` when the caller may no longer read on. Returns what ends the watch. */
export type Watch = (stop: (problem: Problem) => void) => () => void

/** Takes the answer over from the framework: what goes wrong from here on can only be told as an event. */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  stream: EventStream,
  watch: Watch,
): Promise<void> {
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    // Proxies that gather an answer before they pass it on would hold the stream back.
    'x-accel-buffering': 'no',
  })
  raw.write(PING)
  const ping = setInterval(() => {
    // It would only lengthen the queue of a reader that lags behind, and hide that nothing is taken from it.
    if (!raw.writableNeedDrain) raw.write(PING)
  }, PING_EVERY_MS)
  const unwatch = watch((problem) => {
    tell(request, raw, problem)
    raw.end()
    const waiting = setTimeout(() => raw.destroy(), PARTING_MS_MAX)
    raw.once('close', () => clearTimeout(waiting))
  })
  try {
    await stream.write((event) => {
      if (raw.writableEnded || raw.destroyed) return
      if (!raw.write(frame(JSON.stringify(event)))) return drained(raw)
    })
    if (stream.endMark !== undefined && !raw.writableEnded) raw.write(frame(stream.endMark))
  } catch (error) {
    if (!raw.writableEnded && !raw.destroyed) tell(request, raw, toProblem(error as Error))
  } finally {
    unwatch()
    clearInterval(ping)
    raw.end()
    if (raw.writableLength > 0) raw.setTimeout(READING_MS_MAX)
  }
}

function tell(request: FastifyRequest, raw: ServerResponse, problem: Problem): void {
  if (problem.status >= 500)
    request.log.error({ reqId: request.id, err: problem.cause ?? problem, code: problem.code }, 'stream failed')
  raw.write(frame(JSON.stringify(bodyOf(problem, request.id))))
}

const frame = (data: string): string => `data: ${data}\n\n`

/** Resolves too when the reader is gone. */
async function drained(raw: ServerResponse): Promise<void> {
  if (raw.destroyed) return
  const gone = new AbortController()
  const leave = () => gone.abort()
  // Counts from the last bytes that were taken; when it is over the connection is closed.
  raw.setTimeout(READING_MS_MAX)
  raw.once('close', leave)
  await once(raw, 'drain', { signal: gone.signal }).catch(() => {})
  raw.off('close', leave)
  raw.setTimeout(0)
}
