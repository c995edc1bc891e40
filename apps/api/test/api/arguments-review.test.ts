// The review of an argument (contract 3.2), step by step and under contention.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTalking, type TalkingService } from '../support/completions.ts'
import { says } from '../support/scripted-upstream.ts'
import type { Person } from '../support/service.ts'

let service: TalkingService
let rita: Person
before(async () => {
  service = await startTalking({}, says('{"argument_thinking":"young","argument":"Start early"}'))
  rita = await service.signIn('rita', ['admins'])
})
after(() => service.close())

const wanted = { model: 'm', client: {}, insight_spec: {}, product: {} }

async function anArgument(...steps: string[]): Promise<string> {
  const { body } = await service.ana.call('POST', service.at('/arguments/completions'), wanted)
  for (const status of steps) assert.equal((await review(body.id, { status })).status, 200, status)
  return body.id
}

const review = (id: string, change: object, person = rita) =>
  person.call('PUT', service.at(`/arguments/${id}`), { review: change })

test('an argument goes from pending to a verdict, which says who gave it and when', async () => {
  const id = await anArgument('waiting_review', 'reviewing')
  const startedAt = Date.now()
  const verdict = { status: 'success', original_argument_score: '7', reviewed_argument: 'Start at once' }
  const { status, body } = await review(id, verdict)
  assert.equal(status, 200)
  const { reviewed_at, ...rest } = body.review
  assert.deepEqual(rest, { ...verdict, reviewed_by: 'rita' })
  assert.ok(Date.parse(reviewed_at) >= startedAt && Date.parse(reviewed_at) <= Date.now())
  assert.deepEqual((await rita.call('GET', service.at(`/arguments/${id}`))).body, body)
})

test('nobody signs for another: reviewed_by and reviewed_at of a request are passed over', async () => {
  const id = await anArgument('waiting_review', 'reviewing')
  const forged = { reviewed_by: 'boss', reviewed_at: '1999-01-01T00:00:00Z' }
  const early = await review(id, forged)
  assert.deepEqual(early.body.review, { status: 'reviewing' })
  const { body } = await review(id, { status: 'failed', ...forged })
  assert.equal(body.review.reviewed_by, 'rita')
  assert.ok(Date.parse(body.review.reviewed_at) > Date.parse('2020-01-01'))
})

test('an impossible step is 409, says which ones are possible, and changes nothing of the update', async () => {
  const id = await anArgument()
  const url = service.at(`/arguments/${id}`)
  const { status, body } = await rita.call('PUT', url, { argument: 'x', review: { status: 'success' } })
  assert.deepEqual([status, body.error.code, body.error.param], [409, 'conflict', 'review.status'])
  assert.match(body.error.message, /pending can go to waiting_review, not to success/)
  const kept = (await rita.call('GET', url)).body
  assert.deepEqual([kept.argument, kept.review], ['Start early', { status: 'pending' }])
})

test('a status that is none is 400', async () => {
  const { status, body } = await review(await anArgument(), { status: 'done' })
  assert.deepEqual([status, body.error.param], [400, 'review.status'])
})

test('a verdict can be asked for anew, and the old signature goes', async () => {
  const id = await anArgument('waiting_review', 'reviewing', 'failed')
  const { body } = await review(id, { status: 'waiting_review' })
  assert.deepEqual(body.review, { status: 'waiting_review' })
})

test('an update of other fields leaves the review alone', async () => {
  const id = await anArgument('waiting_review', 'reviewing', 'success')
  const { body } = await service.ana.call('PUT', service.at(`/arguments/${id}`), { product: { name: 'Fund' } })
  assert.deepEqual([body.review.status, body.review.reviewed_by], ['success', 'rita'])
})

test('verdicts at one time never overturn one another', async () => {
  const id = await anArgument('waiting_review', 'reviewing')
  const people = await Promise.all(Array.from({ length: 8 }, (_, n) => service.signIn(`reviewer-${n}`, ['admins'])))
  const replies = await Promise.all(
    people.map((person, n) => review(id, { status: n % 2 ? 'success' : 'failed', reviewed_argument: `${n}` }, person)),
  )
  const kept = (await rita.call('GET', service.at(`/arguments/${id}`))).body.review
  const opposite = replies.filter(({ body }) => body.review && body.review.status !== kept.status)
  assert.equal(opposite.length, 0)
  for (const { status, body } of replies) assert.ok(status === 200 || body.error.code === 'conflict')
})

test('who moved a review is in the audit log', async () => {
  const id = await anArgument('waiting_review')
  const { body } = await service.ana.call('GET', '/v1/audit?limit=5')
  const entry = body.data.find((found: { resource_id: string }) => found.resource_id === id)
  assert.deepEqual(
    [entry.actor, entry.action, entry.before.review_status, entry.after.review_status],
    ['rita', 'arguments.update', 'pending', 'waiting_review'],
  )
})
