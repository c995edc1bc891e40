// A store that follows a script, for tests: by the name of the bucket it refuses, has nothing, or falls silent.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What each bucket of this store does with any request. */
const BUCKETS: Record<string, (response: ServerResponse) => void> = {
  empty: (response) => xml(response, 200, '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>'),
  'wrong-keys': (response) => xml(response, 403, '<Error><Code>SignatureDoesNotMatch</Code></Error>'),
  forbidden: (response) => xml(response, 403, '<Error><Code>AccessDenied</Code></Error>'),
  silent: () => {},
}
const MISSING = '<Error><Code>NoSuchBucket</Code></Error>'

function xml(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${body}`)
}

export interface RefusingStore {
  readonly endpoint: string
  /** The bucket of each request so far. */
  readonly asked: readonly string[]
  stop(): void
}

export async function startRefusingStore(): Promise<RefusingStore> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const [bucket = ''] = (request.url ?? '').slice(1).split(/[/?]/)
    asked.push(bucket)
    const play = BUCKETS[bucket] ?? ((answer) => xml(answer, 404, MISSING))
    play(response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
