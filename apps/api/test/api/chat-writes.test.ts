// How chats come into the database: once each, and only into spaces that are there.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { chatRecords, turnRecords } from '../../src/resources/chats/chat-writes-store.ts'
import { sweepChats } from '../../src/resources/chats/chats-store.ts'
import type { Sql } from '../../src/storage/sql.ts'
import { WriteBuffer } from '../../src/storage/write-buffer.ts'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let ana: Person
before(async () => {
  service = await startService()
  ana = await service.signIn('ana', ['admins'])
})
after(() => service.close())

const aSpace = async () => (await ana.call('POST', '/v1/spaces', { name: `space ${newId()}`, description: '' })).body.id

const aChat = (space_id: string) => ({
  tenant_id: 'acme',
  space_id,
  chat_id: newId(),
  id: newId(),
  name: 'Chat',
  model: 'm',
  by: 'ana',
  at: new Date().toISOString(),
  message_count: 1,
  messages: [{ role: 'user', content: 'Hi' }],
})

const insert = (sql: Sql, chats: object[], isRepeat: boolean) =>
  chatRecords.insert(sql, chats.map(chatRecords.textOf), isRepeat)

async function countIn(space: string): Promise<number> {
  const [row] = await service.process.system<{ count: number }[]>`
    select count(*)::int as count from chats where tenant_id = 'acme' and space_id = ${space}`
  return row!.count
}

test('what may be stored already is stored once', async () => {
  const { system } = service.process
  const space = await aSpace()
  const chats = [aChat(space), aChat(space), aChat(space)]
  await insert(system, chats.slice(0, 2), false)
  await insert(system, chats, true)
  assert.equal(await countIn(space), 3)
})

test('a chat whose commit was not heard of is written again, and kept once', async () => {
  const { system } = service.process
  const space = await aSpace()
  const told: boolean[] = []
  const buffer = new WriteBuffer(
    chatRecords.textOf,
    async (texts, isRepeat) => {
      told.push(isRepeat)
      await chatRecords.insert(system, texts, isRepeat)
      if (!isRepeat) throw Object.assign(new Error('The line broke after the commit'), { code: 'CONNECTION_CLOSED' })
    },
    { onError: () => {} },
  )
  await Promise.all([aChat(space), aChat(space)].map((chat) => buffer.add(chat)))
  await buffer.flushed()
  assert.deepEqual([await countIn(space), told], [2, [false, true]])
})

test('chats go after their space, and what comes for it later is dropped without harm to others', async () => {
  const { system } = service.process
  const [gone, stays] = [await aSpace(), await aSpace()]
  await insert(system, [aChat(gone), aChat(stays)], false)
  assert.equal((await ana.call('DELETE', `/v1/spaces/${gone}`)).status, 204)
  await insert(system, [aChat(gone), aChat(stays), aChat(newId())], false)
  assert.deepEqual([await countIn(gone), await countIn(stays)], [1, 2])
  await sweepChats(system, AbortSignal.timeout(10_000))
  assert.deepEqual([await countIn(gone), await countIn(stays)], [0, 2])
})

test('a space that is deleted while chats are written takes these along too', async () => {
  const space = await aSpace()
  let deletion: Promise<{ status: number }> | undefined
  await service.process.system.begin(async (tx) => {
    await insert(tx as unknown as Sql, [aChat(space)], false)
    deletion = ana.call('DELETE', `/v1/spaces/${space}`)
    const first = await Promise.race([deletion, new Promise((resolve) => setTimeout(resolve, 300, 'waits'))])
    assert.equal(first, 'waits')
  })
  assert.equal((await deletion)?.status, 204)
  await sweepChats(service.process.system, AbortSignal.timeout(10_000))
  assert.equal(await countIn(space), 0)
})

test('a space with many chats is deleted at once, and several may sweep them together', async () => {
  const { system } = service.process
  const space = await aSpace()
  await insert(
    system,
    Array.from({ length: 5000 }, () => aChat(space)),
    false,
  )
  assert.equal((await ana.call('DELETE', `/v1/spaces/${space}`)).status, 204)
  assert.equal(await countIn(space), 5000)
  const stopped = AbortSignal.abort()
  await sweepChats(system, stopped)
  assert.equal(await countIn(space), 5000)
  const signal = AbortSignal.timeout(10_000)
  await Promise.all([sweepChats(system, signal), sweepChats(system, signal), sweepChats(system, signal)])
  assert.equal(await countIn(space), 0)
})

test('a turn that comes late is kept, and does not take the chat back', async () => {
  const { system } = service.process
  const space = await aSpace()
  const chat = aChat(space)
  await insert(system, [chat], false)
  const turn = (minutes: number) => ({
    ...chat,
    id: newId(),
    name: undefined,
    model: `after ${minutes}`,
    at: new Date(Date.now() + minutes * 60_000).toISOString(),
  })
  const [earlier, later] = [turn(1), turn(2)]
  for (const one of [later, earlier]) await turnRecords.insert(system, [turnRecords.textOf(one)], true)
  const [row] = await system`
    select model, (select count(*)::int from chat_turns t where t.chat_id = c.id) as turns from chats c where id = ${chat.chat_id}`
  assert.deepEqual(row, { model: 'after 2', turns: 2 })
})
