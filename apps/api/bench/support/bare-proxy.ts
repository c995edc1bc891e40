// The peer: the least a proxy can do. It passes requests on and answers back, and looks at nothing.
import { Agent, request as call, createServer } from 'node:http'

const target = new URL(process.argv[2]!)
const agent = new Agent({ keepAlive: true })
const server = createServer((request, response) => {
  const { hostname, port } = target
  const { method, url, headers } = request
  const upstream = call({ hostname, port, method, path: url, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  request.pipe(upstream)
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as { port: number }).port))
