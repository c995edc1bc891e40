// A model server that follows a script, for tests: it speaks OpenAI's protocol and plays every fault one can have.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the service sent, as far as tests look at it. */
export interface SentBody {
  readonly model: string
  readonly stream: boolean
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly response_format?: { readonly type: string; readonly json_schema?: { readonly schema: object } }
  readonly [parameter: string]: unknown
}

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: SentBody
  /** The port the service called from: the same for two requests on one connection. */
  readonly fromPort: number
  /** Settles once the exchange is over, whoever ended it: true when the service left before the answer was complete. */
  readonly wasAbandoned: Promise<boolean>
}

/** What to do with one request. */
export type Play = (response: ServerResponse, request: SeenRequest) => void | Promise<void>

export interface ScriptedUpstream {
  readonly url: string
  readonly requests: SeenRequest[]
  close(): Promise<void>
}

/** Each request takes the next play of the script; the last one is repeated. */
export async function scriptedUpstream(...script: [Play, ...Play[]]): Promise<ScriptedUpstream> {
  const requests: SeenRequest[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(text || '{}'),
      fromPort: request.socket.remotePort ?? 0,
      wasAbandoned: once(response, 'close').then(() => !response.writableFinished),
    }
    const play = script[Math.min(requests.push(seen), script.length) - 1]!
    await play(response, seen)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export interface Speech {
  readonly pieces?: readonly string[]
  readonly reasoning?: readonly string[]
  readonly toolCalls?: readonly object[]
  readonly finish?: string
  readonly usage?: object | null
}

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

/** A well-behaved answer, streamed or in one piece as the request wants it. */
export const says = (text: string | Speech): Play => {
  const speech = typeof text === 'string' ? { pieces: [text] } : text
  const streamed = streams(...speechEvents(speech))
  const inOnePiece = answers(200, wholeSpeech(speech))
  return (response, request) => (request.body.stream ? streamed : inOnePiece)(response, request)
}

export const answers =
  (status: number, body: object | string, headers: Record<string, string> = {}): Play =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }

/** Sends these events and the end mark. */
export const streams =
  (...events: readonly (object | string)[]): Play =>
  (response) => {
    startEvents(response)
    for (const event of events) response.write(frame(event))
    response.end(frame('[DONE]'))
  }

/** Sends raw bytes in pieces of a size that does not care for characters, lines or events. */
export const dribbles =
  (bytes: Buffer, pieceBytes: number): Play =>
  (response) => {
    startEvents(response)
    for (let at = 0; at < bytes.length; at += pieceBytes) response.write(bytes.subarray(at, at + pieceBytes))
    response.end()
  }

/** Sends these events, then ends the body as if all were well. */
export const endsAfter =
  (...events: readonly (object | string)[]): Play =>
  (response) => {
    startEvents(response)
    for (const event of events) response.write(frame(event))
    response.end()
  }

/** Cuts the connection, without a word or after some events. */
export const resets =
  (...events: readonly (object | string)[]): Play =>
  async (response) => {
    if (events.length > 0) {
      startEvents(response)
      for (const event of events) response.write(frame(event))
      await new Promise((sent) => response.write(': sent\n\n', sent))
    }
    response.socket?.resetAndDestroy()
  }

/** Sends these events, if any, and nothing more; the connection stays open. */
export const fallsSilent =
  (...events: readonly (object | string)[]): Play =>
  (response) => {
    if (events.length === 0) return
    startEvents(response)
    for (const event of events) response.write(frame(event))
  }

export const piece = (delta: object, finish: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'scripted',
  choices: [{ index: 0, delta, finish_reason: finish }],
})

export const usageChunk = (usage: object = USAGE) => ({ object: 'chat.completion.chunk', choices: [], usage })

export const frame = (event: object | string): string =>
  `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`

function speechEvents({
  pieces = [],
  reasoning = [],
  toolCalls = [],
  finish = 'stop',
  usage = USAGE,
}: Speech): object[] {
  return [
    piece({ role: 'assistant', content: '' }),
    ...reasoning.map((text) => piece({ reasoning_content: text })),
    ...pieces.map((text) => piece({ content: text })),
    ...toolCalls.map((call) => piece({ tool_calls: [call] })),
    piece({}, finish),
    ...(usage ? [usageChunk(usage)] : []),
  ]
}

function wholeSpeech({ pieces = [], reasoning = [], toolCalls = [], finish = 'stop', usage = USAGE }: Speech): object {
  const message = {
    role: 'assistant',
    content: pieces.join(''),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  }
  const choices = [{ index: 0, message, finish_reason: finish }]
  return { id: 'chatcmpl-1', object: 'chat.completion', model: 'scripted', choices, ...(usage && { usage }) }
}

function startEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}
