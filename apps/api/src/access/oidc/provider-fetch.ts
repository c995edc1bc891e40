// How the service speaks HTTP to an identity provider: briefly, without following anyone elsewhere, and never reading much.
import { type Dispatcher, fetch } from 'undici'
import { Problem } from '../../base/problem.ts'

/** Something is wrong with the provider or the way to it; the message ends the sentence "the identity provider …". */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault'
}

export type ProviderFetch = (url: string, options: ProviderRequest) => Promise<Response>

/** The parts of a request that the OpenID client sends. */
export interface ProviderRequest {
  readonly method?: string
  readonly headers?: unknown
  readonly body?: unknown
}

export interface ProviderFetchOptions {
  readonly timeoutMs?: number
  readonly sizeBytesMax?: number
  /** Chooses the connections for an address; this is where rules about reachable addresses apply. */
  readonly dispatcherFor?: (url: URL) => Dispatcher | undefined
}

export function providerFetch(options: ProviderFetchOptions = {}): ProviderFetch {
  const { timeoutMs = 5000, sizeBytesMax = 1_048_576, dispatcherFor } = options
  return async (url, { method = 'GET', headers, body }) => {
    const overdue = AbortSignal.timeout(timeoutMs)
    const dispatcher = dispatcherFor?.(new URL(url))
    try {
      const answer = await fetch(url, {
        method,
        headers: headers as never,
        body: (body ?? null) as never,
        redirect: 'manual',
        signal: overdue,
        ...(dispatcher && { dispatcher }),
      })
      if (answer.status >= 300 && answer.status < 400) {
        await answer.body?.cancel()
        throw new ProviderFault(`answered ${pathOf(url)} with a redirect (${answer.status}), which is not followed`)
      }
      const content = await readAtMost(answer.body, sizeBytesMax, url)
      const isBodiless = answer.status === 204 || answer.status === 205
      return new Response(isBodiless ? null : content, { status: answer.status, headers: [...answer.headers] })
    } catch (error) {
      if (error instanceof ProviderFault) throw error
      if (overdue.aborted) throw new ProviderFault(`did not answer ${pathOf(url)} within ${timeoutMs / 1000} seconds`)
      throw new ProviderFault(`cannot be reached at ${new URL(url).host} (${whyOf(error)})`)
    }
  }
}

async function readAtMost(body: AsyncIterable<unknown> | null, sizeBytesMax: number, url: string) {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += (chunk as Uint8Array).byteLength
    if (size > sizeBytesMax) {
      throw new ProviderFault(`answered ${pathOf(url)} with more than ${sizeBytesMax} bytes, which is too much to read`)
    }
    chunks.push(chunk as Uint8Array)
  }
  return Buffer.concat(chunks)
}

/** Without the query: it may carry what does not belong in a log. */
const pathOf = (url: string) => new URL(url).pathname

function whyOf(error: unknown): string {
  const { cause, message } = error as Error
  if (cause instanceof Problem) return cause.message
  const { code, message: inner } = (cause ?? {}) as { code?: unknown; message?: unknown }
  return String(code ?? inner ?? message)
}
