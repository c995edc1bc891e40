// Budgets: tokens per day and completions at one time, exact when they are small, shared by processes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { afterEach, test } from 'node:test'
import { sweepAllowances } from '../../src/access/budgets/allowances-store.ts'
import { openStream, readEvents, startTalking, type TalkingService, user } from '../support/completions.ts'
import { failing } from '../support/failing-table.ts'
import { startReplica } from '../support/replicas.ts'
import { fallsSilent, type Play, piece, says } from '../support/scripted-upstream.ts'
import { toReply, until } from '../support/service.ts'

let service: TalkingService
const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function start(env: Record<string, string>, play: Play = says('Hello')): Promise<void> {
  service = await startTalking(env, play)
  closers.push(() => service.close())
}

const ask = { messages: [user('Hi')] }
const complete = (more: object = {}) => service.ana.call('POST', service.at('/chats/completions'), { ...ask, ...more })

for (const scope of ['TENANT', 'SPACE', 'USER']) {
  test(`a day's tokens of the ${scope.toLowerCase()} are counted by what calls really took, streams too`, async () => {
    await start({ [`BUDGET_${scope}_TOKENS_PER_DAY`]: '25' })
    assert.equal((await complete()).status, 200)
    assert.ok(readEvents((await complete({ stream: true })).text).isDone)
    assert.equal((await complete()).status, 200)
    for (const stream of [false, true]) {
      const { status, body, headers } = await complete({ stream })
      assert.equal(status, 429)
      assert.equal(body.error.code, 'budget_exceeded')
      assert.equal(body.error.param, `tokens_per_day.${scope.toLowerCase()}`)
      assert.match(body.error.message, /25 tokens a day .* resets at \d{4}-\d\d-\d\dT00:00:00/)
      assert.ok(Number(headers['retry-after']) > 0)
    }
    assert.equal(service.upstream.requests.length, 3)
  })
}

test('what one process spends counts in another, and one person’s tokens are not another’s', async () => {
  await start({ BUDGET_USER_TOKENS_PER_DAY: '20' })
  const other = await startReplica(service)
  closers.push(() => other.close())
  const there = async (token: string) =>
    toReply(
      await other.app.inject({
        method: 'POST',
        url: service.at('/chats/completions'),
        headers: { authorization: `Bearer ${token}` },
        payload: ask,
      }),
    )
  assert.equal((await complete()).status, 200)
  assert.equal((await there(service.ana.token)).status, 200)
  assert.equal((await complete()).status, 429)
  assert.equal((await there(service.ana.token)).status, 429)
  const bob = await service.signIn('bob', ['admins'])
  assert.equal((await there(bob.token)).status, 200)
})

test('one completion more than may run at one time is refused until one of them ends, on any process', async () => {
  await start({ BUDGET_SPACE_CONCURRENT_COMPLETIONS: '2' }, (response, request) =>
    (request.body.stream ? fallsSilent(piece({ content: 'Hm' })) : says('Hello'))(response, request),
  )
  const other = await startReplica(service)
  closers.push(() => other.close())
  const streams = [await openStream(service, ask), await openStream(service, ask)]
  for (const { body } of streams) await once(body, 'data')
  const refused = await complete()
  assert.equal(refused.status, 429)
  assert.equal(refused.body.error.param, 'concurrent_completions.space')
  const headers = { authorization: `Bearer ${service.ana.token}` }
  const there = () => other.app.inject({ method: 'POST', url: service.at('/chats/completions'), headers, payload: ask })
  assert.equal((await there()).statusCode, 429)
  await streams[0]!.leave()
  await until('a place is free', async () => (await there()).statusCode === 200)
  await streams[1]!.leave()
})

test('a stream whose Idempotency-Key cannot be let go of begins all the same, and its place is free after it', async () => {
  await start({ BUDGET_USER_CONCURRENT_COMPLETIONS: '1' })
  const mend = await failing(service.databaseUrl, 'idempotency_keys', 'delete')
  const url = service.at('/chats/completions')
  const { text } = await service.ana.call('POST', url, { ...ask, stream: true }, { 'idempotency-key': 'held' })
  await mend()
  assert.ok(readEvents(text).isDone, text)
  assert.equal((await complete()).status, 200)
})

test('a call that fails gives back what was set aside for it', async () => {
  let isBroken = true
  await start(
    { BUDGET_TENANT_TOKENS_PER_DAY: '10', BUDGET_TENANT_CONCURRENT_COMPLETIONS: '1' },
    (response, request) => {
      if (!isBroken) return says('Hello')(response, request)
      response.writeHead(400).end('{}')
    },
  )
  for (let i = 0; i < 3; i++) assert.equal((await complete()).status, 400)
  isBroken = false
  assert.equal((await complete()).status, 200)
  assert.equal((await complete()).status, 429)
})

test('a large budget is taken in portions and never overdrawn by calls that keep to what was set aside', async () => {
  await start(
    { BUDGET_TENANT_TOKENS_PER_DAY: '70000' },
    says({ pieces: ['x'], usage: { prompt_tokens: 500, completion_tokens: 500 } }),
  )
  let answered = 0
  const worker = async () => {
    for (let i = 0; i < 20; i++) if ((await complete()).status === 200) answered++
  }
  await Promise.all(Array.from({ length: 5 }, worker))
  assert.ok(answered >= 69 && answered <= 70, String(answered))
})

test('a space may be stricter than the operator, and says so in its settings', async () => {
  await start({ BUDGET_SPACE_TOKENS_PER_DAY: '1000' })
  const settings = `/v1/spaces/${service.space}/settings`
  assert.equal((await service.ana.call('PUT', settings, { tokens_per_day: 10 })).status, 200)
  assert.equal((await complete()).status, 200)
  assert.equal((await complete()).status, 429)
  await service.ana.call('PUT', settings, { tokens_per_day: null })
  assert.equal((await complete()).status, 200)
})

test('tokens that are only set aside are said to be, and one call sets aside no more than a long answer takes', async () => {
  await start({ BUDGET_TENANT_TOKENS_PER_DAY: '60000' }, (response, request) =>
    (request.body.stream ? fallsSilent(piece({ content: 'Hm' })) : says('Hello'))(response, request),
  )
  const greedy = { ...ask, max_tokens: 2_000_000_000 }
  const streams = [await openStream(service, greedy)]
  assert.equal((await complete()).status, 200)
  streams.push(await openStream(service, greedy))
  const { status, body, headers } = await complete()
  assert.deepEqual([status, headers['retry-after']], [429, '1'])
  assert.match(body.error.message, /60000 tokens a day for your tenant is set aside for completions that are running/)
  for (const { leave } of streams) await leave()
  await until('it is free again', async () => (await complete()).status === 200)
})

test('a process that was taken for dead gives back nothing that is not its own', async () => {
  await start({ BUDGET_SPACE_CONCURRENT_COMPLETIONS: '1' }, fallsSilent(piece({ content: 'Hm' })))
  const { system } = service.process
  const stream = await openStream(service, ask)
  await once(stream.body, 'data')
  await system`update authz_replica set renewed_at = now() - interval '2 minutes'`
  await sweepAllowances(system)
  await stream.leave()
  await until('the place is given back', async () => (await system`select from allowances`).length === 1)
  assert.deepEqual([...(await system`select held from allowances`)], [{ held: 0 }])
})
