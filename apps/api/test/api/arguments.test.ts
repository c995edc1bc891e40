// Arguments as a client sees them (contract 2.7, 4.2.2): written by a model, kept, found, changed, deleted.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/ids.ts'
import { startTalking, type TalkingService } from '../support/completions.ts'
import { says } from '../support/scripted-upstream.ts'
import type { Person } from '../support/service.ts'

let service: TalkingService
before(async () => {
  service = await startTalking({}, says('{"argument_thinking":"young","argument":"Start early"}'))
})
after(() => service.close())

const wanted = {
  model: 'm',
  client: { name: 'Ada', age: 31, nested: { z: 1, a: [true, null] } },
  insight_spec: { type: 'pension', template: 'Because you {…}', examples: ['Because you travel'] },
  product: { name: 'Pension', description: 'grows slowly' },
}
const { model: _, ...subject } = wanted

async function write(more: object = {}, person = service.ana, base = service.at('/arguments')) {
  const { status, body } = await person.call('POST', `${base}/completions`, { ...wanted, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

async function anAction(person: Person = service.ana, base = service.at('/actions')): Promise<string> {
  const action = { name: 'Call', description: 'Ring the client', type: 'contact', priority: 'high' }
  return (await person.call('POST', base, action)).body.id
}

async function anotherSpace(name: string): Promise<{ person: Person; at: (path: string) => string }> {
  const { id } = (await service.ana.call('POST', '/v1/spaces', { name, description: '' })).body
  return { person: await service.signIn('ana', ['admins']), at: (path) => `/v1/spaces/${id}${path}` }
}

describe('completion', () => {
  test('the result has the fields of the contract, and what is kept is the same argument', async () => {
    const action_id = await anAction()
    const { duration, ...result } = await write({ action_id })
    assert.equal(typeof duration, 'number')
    const { id, created_at, ...rest } = result
    const written = { argument: 'Start early', argument_thinking: 'young', review: { status: 'pending' } }
    const { _id, space, ...kept } = (await service.ana.call('GET', service.at(`/arguments/${id}`))).body
    assert.deepEqual(kept, { ...rest, ...subject, ...written, action_id, id, created_at })
    assert.deepEqual([_id, space], [id, service.space])
  })

  test('client, product, examples and the stored action are in the prompt, and the log has the argument’s id', async () => {
    const { id } = await write({ action_id: await anAction(), max_tokens: 200, temperature: 0, top_p: 1 })
    const sent = service.upstream.requests.at(-1)!.body
    for (const part of ['"age":31', 'grows slowly', '- Because you travel', 'Call: Ring the client (type: contact'])
      assert.ok(sent.messages[1]!.content.includes(part), part)
    assert.deepEqual([sent['max_tokens'], sent['temperature'], sent['top_p']], [200, 0, 1])
    await service.process.services.records.logs.flushed()
    const log = (await service.ana.call('GET', service.at(`/logs/${id}`))).body
    assert.deepEqual([log.api, log.type, log.status], ['arguments.complete', 'argument', 'success'])
  })

  test('what is not a request for an argument is refused, and the field is named', async () => {
    for (const [more, param] of [
      [{ model: undefined }, 'model'],
      [{ client: undefined }, 'client'],
      [{ client: 'Ada' }, 'client'],
      [{ insight_spec: undefined }, 'insight_spec'],
      [{ insight_spec: { examples: [1] } }, 'insight_spec.examples.0'],
      [{ insight_spec: { kind: 'x' } }, 'insight_spec.kind'],
      [{ product: undefined }, 'product'],
      [{ review: { status: 'success' } }, 'review'],
    ] as const) {
      const reply = await service.ana.call('POST', service.at('/arguments/completions'), { ...wanted, ...more })
      assert.deepEqual([reply.status, reply.body.error.param], [400, param], reply.text)
    }
  })

  test('an action that the space does not have is refused before a model is asked', async () => {
    const { person, at } = await anotherSpace('elsewhere')
    const foreign = await anAction(person, at('/actions'))
    const asked = service.upstream.requests.length
    for (const action_id of ['call', newId(), foreign]) {
      const reply = await service.ana.call('POST', service.at('/arguments/completions'), { ...wanted, action_id })
      assert.deepEqual([reply.status, reply.body.error.code], [400, 'invalid_reference'], reply.text)
    }
    assert.equal(service.upstream.requests.length, asked)
  })
})

describe('find all', () => {
  test('it answers a plain array, the newest first, a hundred unless told otherwise', async () => {
    const { person, at } = await anotherSpace('many')
    const base = at('/arguments')
    assert.deepEqual((await person.call('GET', base)).body, [])
    const ids: string[] = []
    for (let n = 0; n < 102; n++) ids.unshift((await write({}, person, base)).id)
    const page = async (query: string) =>
      (await person.call('GET', base + query)).body.map(({ id }: { id: string }) => id)
    assert.deepEqual(await page(''), ids.slice(0, 100))
    assert.deepEqual(await page('?page=2'), ids.slice(100))
    assert.deepEqual(await page('?page=3&page_size=4'), ids.slice(8, 12))
    assert.deepEqual(await page('?page=9'), [])
    for (const query of ['?page_size=0', '?page_size=1001', '?page=0', '?status=done'])
      assert.equal((await person.call('GET', base + query)).status, 400, query)
  })

  test('it filters by review status and by action, and by both together', async () => {
    const { person, at } = await anotherSpace('filters')
    const action = await anAction(person, at('/actions'))
    const [plain, waiting, both] = [
      await write({}, person, at('/arguments')),
      await write({}, person, at('/arguments')),
      await write({ action_id: action }, person, at('/arguments')),
    ]
    for (const { id } of [waiting, both])
      await person.call('PUT', at(`/arguments/${id}`), { review: { status: 'waiting_review' } })
    const found = async (query: string) =>
      (await person.call('GET', at(`/arguments?${query}`))).body.map(({ id }: { id: string }) => id)
    assert.deepEqual(await found('status=pending'), [plain.id])
    assert.deepEqual(await found('status=waiting_review'), [both.id, waiting.id])
    assert.deepEqual(await found(`action_id=${action}`), [both.id])
    assert.deepEqual(await found(`action_id=${action}&status=pending`), [])
    assert.deepEqual(await found(`action_id=${newId()}`), [])
    assert.deepEqual(await found('action_id=call'), [])
  })
})

describe('update', () => {
  test('only what is given changes', async () => {
    const { id, duration: _duration, ...before } = await write()
    const action_id = await anAction()
    const given = { action_id, argument: 'Begin now', client: { name: 'Bo' }, product: { name: 'Fund' } }
    const { status, body } = await service.ana.call('PUT', service.at(`/arguments/${id}`), given)
    assert.equal(status, 200)
    assert.ok(body.updated_at)
    const { updated_at, ...rest } = body
    assert.deepEqual(rest, { ...before, ...given, id, _id: id, space: service.space })
    const nothing = await service.ana.call('PUT', service.at(`/arguments/${id}`), {})
    assert.deepEqual(nothing.body, body)
  })

  test('an action that the space does not have is refused and changes nothing', async () => {
    const { id } = await write()
    const given = { argument: 'x', action_id: newId() }
    const { status, body } = await service.ana.call('PUT', service.at(`/arguments/${id}`), given)
    assert.deepEqual([status, body.error.code], [400, 'invalid_reference'])
    assert.equal((await service.ana.call('GET', service.at(`/arguments/${id}`))).body.argument, 'Start early')
  })
})

test('a deleted argument is gone from get and find all', async () => {
  const { id } = await write()
  assert.equal((await service.ana.call('DELETE', service.at(`/arguments/${id}`))).status, 204)
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    assert.equal(
      (await service.ana.call(method, service.at(`/arguments/${id}`), method === 'PUT' ? {} : undefined)).status,
      404,
    )
  const all = (await service.ana.call('GET', service.at('/arguments'))).body
  assert.ok(!all.some((argument: { id: string }) => argument.id === id))
})

test('an action stays as long as an argument refers to it', async () => {
  const action_id = await anAction()
  const { id } = await write({ action_id })
  const gone = () => service.ana.call('DELETE', service.at(`/actions/${action_id}`))
  const { status, body } = await gone()
  assert.deepEqual([status, body.error.message], [409, 'An argument refers to this action'])
  await service.ana.call('DELETE', service.at(`/arguments/${id}`))
  assert.equal((await gone()).status, 204)
})

test('an argument of another space is not found', async () => {
  const { person, at } = await anotherSpace('apart')
  const { id } = await write()
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    assert.equal((await person.call(method, at(`/arguments/${id}`), method === 'PUT' ? {} : undefined)).status, 404)
})

test('a space is deleted with its arguments and their actions', async () => {
  const { person, at } = await anotherSpace('short-lived')
  await write({ action_id: await anAction(person, at('/actions')) }, person, at('/arguments'))
  assert.equal((await person.call('DELETE', at(''))).status, 204)
})

test('what is known about clients stays out of the audit log', async () => {
  const { id } = await write({ client: { name: 'Confidential' } })
  await service.ana.call('PUT', service.at(`/arguments/${id}`), { argument: 'Confidential' })
  await service.ana.call('DELETE', service.at(`/arguments/${id}`))
  const entries = (await service.ana.call('GET', '/v1/audit?limit=100')).body.data
  const mine = entries.filter((entry: { resource_id: string }) => entry.resource_id === id)
  assert.deepEqual(
    mine.map(({ action }: { action: string }) => action),
    ['arguments.delete', 'arguments.update', 'arguments.create'],
  )
  assert.doesNotMatch(JSON.stringify(mine), /Confidential/)
})
