// The webhook receiver (contract 4.2.15, 6.1): events about entities, in any order and as often as the sender likes.
import { resource } from '../../contract/resource.ts'
import { applyEvent } from './apply.ts'
import { keepEvent } from './entities-store.ts'
import { prove } from './prove.ts'
import { WebhookAnswer, WebhookPayload } from './shapes.ts'

const webhooks = resource('webhooks', 'public')

export default [
  webhooks.create({
    summary: 'Receive an event about a training, evaluation, checkpoint or connector; the sender proves itself',
    body: WebhookPayload,
    result: WebhookAnswer,
    run: async (context, { body }) => {
      const { entity, grant } = await prove(context, body.id)
      const at = body.timestamp ?? new Date().toISOString()
      await context.db.begin(grant, async (sql) => {
        const kept = await keepEvent(sql, grant, entity.kind, body, at)
        if (kept) await applyEvent(sql, grant, entity, kept.status, body)
      })
      return { id: body.id }
    },
  }),
]
