// A TCP proxy that counts what it passes back and can fall silent in the middle of an answer, for tests.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface FreezingProxy {
  readonly url: string
  /** How many bytes of answers have passed. */
  readonly passed: number
  /** Lets this many more bytes of answers pass and then nothing, on any connection, until told otherwise. */
  freezeAfter(bytes: number): void
  thaw(): void
  stop(): void
}

export async function startFreezingProxy(target: string): Promise<FreezingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let passed = 0
  let silentFrom = Number.POSITIVE_INFINITY
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    client.pipe(upstream)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.on('data', (chunk: Buffer) => {
      const open = Math.max(0, Math.min(chunk.length, silentFrom - passed))
      passed += open
      client.write(chunk.subarray(0, open))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get passed() {
      return passed
    },
    freezeAfter(bytes) {
      silentFrom = passed + bytes
    },
    thaw() {
      silentFrom = Number.POSITIVE_INFINITY
    },
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
