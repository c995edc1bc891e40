// A model server that answers at once and always the same, so that what is measured is what stands in front of it.
//
// It reads no more of a request than where it ends: the less it costs, the more of the machine is left to what is measured.
import { createServer } from 'node:net'
import { isWhole } from './http-text.ts'

const PIECES = 8
const usage = { prompt_tokens: 12, completion_tokens: PIECES, total_tokens: 12 + PIECES }
const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'bench' }
const content = 'The answer is forty-two, as always. '.repeat(8)
const message = { role: 'assistant', content }
const whole = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
  usage,
})
const chunk = (choices: object[], more = {}) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`
const delta = chunk([{ index: 0, delta: { content: content.slice(0, 36) }, finish_reason: null }])
const end = [chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]), chunk([], { usage }), 'data: [DONE]\n\n']

const headOf = (type: string, framing: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${framing}\r\nconnection: keep-alive\r\nkeep-alive: timeout=5\r\n\r\n`
const plain = Buffer.from(headOf('application/json', `content-length: ${Buffer.byteLength(whole)}`) + whole)
const framed = (event: string) => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`
const streamed = [
  headOf('text/event-stream', 'transfer-encoding: chunked'),
  ...[...Array(PIECES).fill(delta), ...end].map(framed),
  '0\r\n\r\n',
].map((part) => Buffer.from(part))

const server = createServer({ noDelay: true }, (socket) => {
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (part) => {
    text += part.toString('latin1')
    // Nobody sends a second request before the first is answered.
    if (!isWhole(text)) return
    if (text.includes('"stream":true')) for (const piece of streamed) socket.write(piece)
    else socket.write(plain)
    text = ''
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port))
