// Persona completion as a client sees it (contract 4.2.12).
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTalking, type TalkingService } from '../support/completions.ts'
import { says } from '../support/scripted-upstream.ts'

const said = { message: 'Older now', name: '', notes: 'Retired pilot', birthdate: '1950-01-01' }
let data = [{ key: 'hobby', value: 'gliding' }]
let birthdate = said.birthdate

let service: TalkingService
before(async () => {
  service = await startTalking({}, (response, request) =>
    says(JSON.stringify({ ...said, birthdate, data }))(response, request),
  )
})
after(() => service.close())

const ask = (body: object) => service.ana.call('POST', service.at('/personas/completions'), body)

test('the answer is the whole persona after the wish, with what was not asked to change', async () => {
  const { status, body } = await ask({
    prompt: 'Make him older',
    current_persona: { name: 'Otto', notes: 'Pilot', data: { city: 'Ulm', hobby: 'chess' } },
    history: [{ role: 'assistant', content: 'Here is Otto' }, { step: 2 }],
  })
  assert.equal(status, 200)
  assert.deepEqual(body, {
    message: 'Older now',
    persona: {
      name: 'Otto',
      notes: 'Retired pilot',
      birthdate: '1950-01-01',
      data: { city: 'Ulm', hobby: 'gliding' },
    },
  })
  const sent = service.upstream.requests.at(-1)!.body
  assert.equal(sent.model, 'm')
  assert.match(sent.messages.at(-1)!.content, /"city":"Ulm"[\s\S]*Make him older/)
  assert.deepEqual(
    sent.messages.slice(1, 3).map(({ content }) => content),
    ['Here is Otto', '{"step":2}'],
  )
})

test('the persona can be created as it is', async () => {
  const { persona } = (await ask({ current_persona: { name: 'Otto' } })).body
  const { status, body } = await service.ana.call('POST', service.at('/personas'), persona)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.notes, 'Retired pilot')
})

test('a day that does not exist leaves the birthdate as it was', async () => {
  for (birthdate of ['around 1950', '1950-02-30', '']) {
    const { persona } = (await ask({ current_persona: { birthdate: '1949-05-05' } })).body
    assert.equal(persona.birthdate, '1949-05-05')
    assert.ok(!('birthdate' in (await ask({})).body.persona))
  }
  birthdate = said.birthdate
})

test('a key by any name is a key like others', async () => {
  data = [
    { key: '__proto__', value: 'x' },
    { key: 'constructor', value: 'y' },
  ]
  const reply = await ask({})
  assert.equal(reply.status, 200)
  assert.match(reply.text, /"constructor":"y"/)
  data = []
})

test('nothing needs to be given, and nothing is stored', async () => {
  const before = (await service.ana.call('GET', service.at('/personas'))).body.count
  assert.equal((await ask({})).status, 200)
  assert.equal((await service.ana.call('GET', service.at('/personas'))).body.count, before)
})

test('what is not a request for a persona is refused, and the field is named', async () => {
  for (const [body, param] of [
    [{ prompt: 1 }, 'prompt'],
    [{ current_persona: 'Otto' }, 'current_persona'],
    [{ history: ['hi'] }, 'history.0'],
    [{ temperature: 1 }, 'temperature'],
  ] as const) {
    const reply = await ask(body)
    assert.deepEqual([reply.status, reply.body.error.param], [400, param], reply.text)
  }
})

test('creating personas is the permission that it takes', async () => {
  const permissions = ['personas:create']
  await service.ana.call('POST', '/v1/seats', { name: 'writers', spaces: [service.space], permissions })
  const bob = await service.signIn('bob', ['writers'])
  assert.equal((await bob.call('POST', service.at('/personas/completions'), {})).status, 200)
  assert.equal((await bob.call('POST', '/v1/personas/completions', {}, { space: service.space })).status, 200)
  assert.equal((await bob.call('POST', service.at('/insights'), { client: 'Ada' })).status, 403)
})
