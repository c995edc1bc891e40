// The webhook receiver (contract 4.2.15, 6.1): events about entities, in any order and as often as the sender likes.
import { Problem } from '../../base/problem.ts'
import { resource } from '../../contract/resource.ts'
import { applyEvent } from './apply.ts'
import { keepEvent } from './entities-store.ts'
import { prove } from './prove.ts'
import { WebhookAnswer, WebhookPayload } from './shapes.ts'

/** Clocks differ, but an event from far ahead would stand in the way of every later one. */
const AHEAD_MINUTES_MAX = 5

const webhooks = resource('webhooks', 'public')

export default [
  webhooks.create({
    summary: 'Receive an event about a training, evaluation, checkpoint or connector; the sender proves itself',
    body: WebhookPayload,
    result: WebhookAnswer,
    run: async (context, { body }) => {
      const { entity, grant, signedAt } = await prove(context, body.id)
      assertNotAhead(body.timestamp)
      // A signed request that is sent again must not count as news.
      const at = body.timestamp ?? signedAt ?? new Date().toISOString()
      await context.db.begin(grant, async (sql) => {
        const kept = await keepEvent(sql, grant, entity.kind, body, at)
        if (kept) await applyEvent(sql, grant, context.jobs, entity, kept.status, body)
      })
      return { id: body.id }
    },
  }),
]

function assertNotAhead(timestamp: string | undefined): void {
  if (timestamp === undefined || Date.parse(timestamp) <= Date.now() + AHEAD_MINUTES_MAX * 60_000) return
  const message = `timestamp must not be more than ${AHEAD_MINUTES_MAX} minutes ahead`
  throw new Problem('invalid_request', message, { param: 'timestamp' })
}
