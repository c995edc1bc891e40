// As much of a Ray dashboard as tells what it is, and servers that are none, for tests.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Dashboard {
  readonly url: string
  /** The Authorization headers that came, in order. */
  readonly tokens: (string | undefined)[]
  stop(): void
}

const VERSION = { version: '4', ray_version: '2.52.0', ray_commit: '0123abcd', session_name: 'session_1' }

/** With a token, it lets nobody else in, as Ray does: 401 without one and 403 with another. */
export const ray =
  (token?: string): RequestListener =>
  (request, response) => {
    const given = request.headers.authorization
    if (token && given !== `Bearer ${token}`) return response.writeHead(given ? 403 : 401).end('Unauthorized')
    if (request.url === '/api/version') return response.end(JSON.stringify(VERSION))
    response.writeHead(404).end()
  }
export const somethingElse: RequestListener = (_, response) => response.end('<html>hello</html>')
export const broken: RequestListener = (_, response) => response.writeHead(503).end()
export const silent: RequestListener = () => {}

export async function startDashboard(listener: RequestListener): Promise<Dashboard> {
  const tokens: (string | undefined)[] = []
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization)
    listener(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
