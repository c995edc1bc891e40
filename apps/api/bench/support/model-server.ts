// A model server that answers at once and always the same, so that what is measured is what stands in front of it.
import { createServer } from 'node:http'

const PIECES = 8
const usage = { prompt_tokens: 12, completion_tokens: PIECES, total_tokens: 12 + PIECES }
const head = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'bench' }
const content = 'The answer is forty-two, as always. '.repeat(8)
const plain = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage,
})
const chunk = (choices: object[], more = {}) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`
const deltas = Array.from({ length: PIECES }, () =>
  chunk([{ index: 0, delta: { content: content.slice(0, 36) }, finish_reason: null }]),
)
const streamed = [
  ...deltas,
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
  chunk([], { usage }),
  'data: [DONE]\n\n',
]

const server = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part) => parts.push(part))
  request.on('end', () => {
    if (Buffer.concat(parts).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of streamed) response.write(event)
      response.end()
    } else {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(plain) })
      response.end(plain)
    }
  })
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port))
