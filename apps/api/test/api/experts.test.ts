// Experts as a client sees them (contract 2.15, 4.2.1).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Person, type Service, startService } from '../support/service.ts'

let service: Service
let admin: Person
let at: string

before(async () => {
  service = await startService()
  admin = await service.signIn('ana', ['admins'])
  at = `/v1/spaces/${await service.firstSpace()}/experts`
})
after(() => service.close())

const whole = {
  name: 'Tax',
  description: 'Knows taxes',
  context: 'You know the tax law.',
  file_context: [{ name: 'law.txt', content: 'Article 1' }, {}],
  tools: [
    {
      type: 'function',
      function: { name: 'rate_of', description: 'The rate', parameters: { type: 'object' }, strict: true },
    },
    { type: 'function', function: { name: 'now' } },
  ],
}

test('an expert comes back whole', async () => {
  const { status, body } = await admin.call('POST', at, whole)
  assert.equal(status, 200, JSON.stringify(body))
  const { id, created_at, ...rest } = body
  assert.deepEqual(rest, whole)
  assert.deepEqual((await admin.call('GET', `${at}/${id}`)).body, body)
})

test('what is not given is left out, and empty lists stay empty lists', async () => {
  const bare = (await admin.call('POST', at, { name: 'Bare', description: '' })).body
  assert.deepEqual(Object.keys(bare).sort(), ['created_at', 'description', 'id', 'name'])
  const { body } = await admin.call('PUT', `${at}/${bare.id}`, { tools: [], file_context: [] })
  assert.deepEqual([body.tools, body.file_context], [[], []])
})

test('an update replaces the lists it is given and leaves the others', async () => {
  const { id } = (await admin.call('POST', at, whole)).body
  const { body } = await admin.call('PUT', `${at}/${id}`, { file_context: [{ a: 'b' }] })
  assert.deepEqual([body.file_context, body.tools, body.context], [[{ a: 'b' }], whole.tools, whole.context])
})

test('a deleted expert is gone from the list', async () => {
  const { id } = (await admin.call('POST', at, whole)).body
  const { count } = (await admin.call('GET', at)).body
  assert.equal((await admin.call('DELETE', `${at}/${id}`)).status, 204)
  assert.equal((await admin.call('GET', at)).body.count, count - 1)
  assert.equal((await admin.call('GET', `${at}/${id}`)).status, 404)
})

for (const [what, patch, param] of [
  ['no name', { name: undefined }, 'name'],
  ['no description', { description: undefined }, 'description'],
  ['a context that is no text', { context: 5 }, 'context'],
  ['a file context that is no list', { file_context: {} }, 'file_context'],
  ['a file context whose values are no texts', { file_context: [{ size: 5 }] }, 'file_context.0.size'],
  ['a tool without a type', { tools: [{ function: { name: 'x' } }] }, 'tools.0.type'],
  ['a tool without a function', { tools: [{ type: 'function' }] }, 'tools.0.function'],
  ['a function without a name', { tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
  [
    'a function whose name no model takes',
    { tools: [{ type: 'function', function: { name: 'two words' } }] },
    'tools.0.function.name',
  ],
  [
    'parameters that are no object',
    { tools: [{ type: 'function', function: { name: 'x', parameters: 'all' } }] },
    'tools.0.function.parameters',
  ],
  ['an unknown field of a tool', { tools: [{ type: 'function', function: { name: 'x' }, x: 1 }] }, 'tools.0.x'],
] as const) {
  test(`${what} is refused, and the field is named`, async () => {
    const { status, body } = await admin.call('POST', at, { ...whole, ...patch })
    assert.deepEqual([status, body.error.param], [400, param], JSON.stringify(body))
  })
}
