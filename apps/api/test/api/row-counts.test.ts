// The counts that the database keeps of what comes by the million are those that counting would give.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { chatRecords } from '../../src/resources/chats/chat-writes-store.ts'
import { sweepChats } from '../../src/resources/chats/chats-store.ts'
import { foldRowCounts } from '../../src/storage/row-counts.ts'
import { connect } from '../../src/storage/sql.ts'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let ana: Person
before(async () => {
  service = await startService()
  ana = await service.signIn('ana', ['admins'])
})
after(() => service.close())

async function aSpace(): Promise<string> {
  const { body } = await ana.call('POST', '/v1/spaces', { name: `space ${newId()}`, description: '' })
  // A token knows the spaces that were there when it was made.
  ana = await service.signIn('ana', ['admins'])
  return body.id
}

const aPersona = (space: string) =>
  ana.call('POST', `/v1/spaces/${space}/personas`, { name: 'Ann', notes: '', birthdate: '1990-12-31' })

const writeChats = (ids: string[], space: string, isRepeat = false) => {
  const rest = {
    tenant_id: 'acme',
    space_id: space,
    name: 'Chat',
    model: 'm',
    by: 'ana',
    message_count: 0,
    messages: [],
  }
  const texts = ids.map((chat_id) =>
    chatRecords.textOf({ ...rest, chat_id, id: chat_id, at: new Date().toISOString() }),
  )
  return chatRecords.insert(service.process.system, texts, isRepeat)
}

const told = async (space: string, what: 'chats' | 'personas'): Promise<number> =>
  (await ana.call('GET', `/v1/spaces/${space}/${what}?limit=1`)).body.count

async function changesOf(space: string): Promise<number> {
  const [row] = await service.process.system<{ count: number }[]>`
    select count(*)::int as count from row_counts where space_id = ${space}`
  return row!.count
}

test('they follow what comes and goes, each in its space', async () => {
  const [here, there] = [await aSpace(), await aSpace()]
  const { body: first } = await aPersona(here)
  await aPersona(here)
  await aPersona(there)
  await ana.call('DELETE', `/v1/spaces/${here}/personas/${first.id}`)
  const chats = [newId(), newId(), newId()]
  await writeChats(chats.slice(0, 2), here)
  await writeChats(chats, here, true)
  await ana.call('DELETE', `/v1/spaces/${here}/chats/${chats[0]}`)
  assert.deepEqual([await told(here, 'personas'), await told(there, 'personas')], [1, 1])
  assert.deepEqual([await told(here, 'chats'), await told(there, 'chats')], [2, 0])
})

test('a change that fails is not counted', async () => {
  const space = await aSpace()
  const id = newId()
  await writeChats([id], space)
  await assert.rejects(writeChats([newId(), id], space), /chats_pk/)
  assert.equal(await told(space, 'chats'), 1)
})

test('they are right at every moment while many write and the changes are folded', async () => {
  const space = await aSpace()
  let [begun, done] = [0, 0]
  const write = async () => {
    for (let i = 0; i < 20; i++) {
      begun += 2
      await writeChats([newId(), newId()], space)
      done += 2
    }
  }
  const writing = Promise.all([write(), write(), write()])
  while (done < 120) {
    await Promise.all([foldRowCounts(service.process.system), foldRowCounts(service.process.system)])
    const least = done
    const count = await told(space, 'chats')
    assert.ok(count >= least && count <= begun, `${count} are told, between ${least} and ${begun} are there`)
  }
  await writing
  await foldRowCounts(service.process.system)
  assert.deepEqual([await told(space, 'chats'), await changesOf(space)], [120, 1])
})

test('a count of a whole tenant is folded as well', async () => {
  const entries = async () => (await ana.call('GET', '/v1/audit?limit=1')).body.count
  await Promise.all([aSpace(), aSpace()])
  const before = await entries()
  await foldRowCounts(service.process.system)
  const notes = await service.process.system`select from row_counts where table_name = 'audit'`
  assert.deepEqual([await entries(), notes.length], [before, 1])
})

test('they go with their space', async () => {
  const space = await aSpace()
  await aPersona(space)
  await writeChats([newId(), newId()], space)
  assert.equal((await ana.call('DELETE', `/v1/spaces/${space}`)).status, 204)
  await sweepChats(service.process.system, AbortSignal.timeout(10_000))
  await foldRowCounts(service.process.system)
  assert.equal(await changesOf(space), 0)
})

test('they begin with what is there already', async () => {
  const space = await aSpace()
  await writeChats([newId(), newId()], space)
  const owner = connect(service.databaseUrl, { max: 1 })
  await owner.unsafe(`drop trigger count_come on chats; drop trigger count_gone on chats; delete from row_counts`)
  await owner`call keep_count('chats')`
  await owner.end()
  await writeChats([newId()], space)
  assert.equal(await told(space, 'chats'), 3)
})
