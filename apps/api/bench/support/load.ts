// The load: requests over a few connections that stay open, each sent when the one before it on its connection is answered.
//
// It shares the machine with what it measures, so it must cost little: one buffer that was made before, written again and
// again, one that all answers are read into, and of each answer only the status and the length are looked at.
import { connect } from 'node:net'
import { isWhole } from './http-text.ts'

export interface Load {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  readonly seconds: number
}

export interface LoadResult {
  readonly answered: number
  /** Answers with another status than 2xx, and connections that were lost. */
  readonly failed: number
  readonly seconds: number
}

const load = JSON.parse(process.argv[2]!) as Load
const { hostname, port, host, pathname, search } = new URL(load.url)
const lines = Object.entries({ host, 'content-length': String(Buffer.byteLength(load.body)), ...load.headers })
const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
const request = Buffer.from(`${load.method} ${pathname}${search} HTTP/1.1\r\n${head}\r\n${load.body}`)
const arrived = Buffer.allocUnsafe(64 * 1024)
let answered = 0
let failed = 0

const beganAt = performance.now()
for (let i = 0; i < load.connections; i++) open()
setTimeout(() => {
  const result: LoadResult = { answered, failed, seconds: (performance.now() - beganAt) / 1000 }
  console.log(JSON.stringify(result))
  process.exit()
}, load.seconds * 1000)

function open(): void {
  let text = ''
  const read = (length: number): true => {
    text += arrived.toString('latin1', 0, length)
    if (!isWhole(text)) return true
    if (text.startsWith('HTTP/1.1 2')) answered++
    else failed++
    text = ''
    socket.write(request)
    return true
  }
  const onread = { buffer: arrived, callback: read }
  const socket = connect({ host: hostname, port: Number(port), noDelay: true, onread })
  socket.on('connect', () => socket.write(request))
  socket.on('close', () => failed++)
  socket.on('error', () => {})
}
