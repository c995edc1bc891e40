// Readers who open a stream and then take nothing: they hold up neither the model nor the next caller.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { listen, logsOf, startTalking, type TalkingService, user } from '../support/completions.ts'
import { frame, piece } from '../support/scripted-upstream.ts'
import { until } from '../support/service.ts'

let service: TalkingService
before(async () => {
  service = await startTalking({}, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const block = frame(piece({ content: 'la '.repeat(20_000) }))
    const talking = setInterval(() => {
      if (response.writableLength < 1_000_000) response.write(block)
    }, 1)
    response.once('close', () => clearInterval(talking))
  })
  const settings = { concurrent_completions: 1 }
  assert.equal((await service.ana.call('PUT', service.at('/settings'), settings)).status, 200)
})
after(() => service.close())

/** A connection that sends a request and never reads. */
async function askAndStare(token: string, type: string) {
  const { port } = new URL(await listen(service))
  const body = JSON.stringify({ messages: [user('Sing')], stream: true, type })
  const socket = connect(Number(port), '127.0.0.1').pause()
  socket.on('error', () => {})
  socket.write(
    `POST ${service.at('/chats/completions')} HTTP/1.1\r\nhost: amphi\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return socket
}

test('whoever loses the right to read is cut off within seconds, read or not', async () => {
  const { ana, space } = service
  const permissions = ['chats:create']
  const { body: seat } = await ana.call('POST', '/v1/seats', { name: 'singers', spaces: [space], permissions })
  const bob = await service.signIn('bob', ['singers'])
  const asked = service.upstream.requests.length
  const socket = await askAndStare(bob.token, 'revoked')
  await until('the model is asked', () => service.upstream.requests.length > asked)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  assert.equal((await ana.call('PUT', `/v1/seats/${seat.id}`, { permissions: ['chats:list'] })).status, 200)
  await until('the log is there', async () => (await logsOf(service, '?type=revoked')).length === 1, 10_000)
  assert.equal(await service.upstream.requests[asked]!.wasAbandoned, true)
  socket.destroy()
})

test('whoever takes nothing for a minute is left, and the next one gets the place', async () => {
  const asked = service.upstream.requests.length
  const socket = await askAndStare(service.ana.token, 'stuck')
  await until('the model is asked', () => service.upstream.requests.length > asked)
  const next = () => service.ana.call('POST', service.at('/chats/completions'), { messages: [user('And I?')] })
  assert.equal((await next()).status, 429)
  await until('the log is there', async () => (await logsOf(service, '?type=stuck')).length === 1, 90_000)
  assert.equal(await service.upstream.requests[asked]!.wasAbandoned, true)
  const [log] = await logsOf(service, '?type=stuck')
  assert.match(log.error_message, /left/)
  socket.destroy()
})

test('whoever reads slowly is not left, however long it takes', async () => {
  const asked = service.upstream.requests.length
  const socket = await askAndStare(service.ana.token, 'slow')
  await until('the model is asked', () => service.upstream.requests.length > asked)
  let read = 0
  // The kernel holds megabytes, and takes more only when a good part of them is gone.
  const sip = setInterval(() => (read += socket.read(16_000)?.length ?? 0), 100)
  await new Promise((resolve) => setTimeout(resolve, 100_000))
  clearInterval(sip)
  assert.equal((await logsOf(service, '?type=slow')).length, 0)
  assert.equal(socket.closed, false)
  assert.ok(read > 1_000_000)
  socket.destroy()
  await until('the log is there', async () => (await logsOf(service, '?type=slow')).length === 1)
})
