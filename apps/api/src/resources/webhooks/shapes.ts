// The payload of a webhook (contract 2.23).
import { type Static, Type } from 'typebox'
import { filled, freeForm, input, moment, named, text } from '../../contract/shapes.ts'

export const WebhookPayload = named(
  'WebhookPayload',
  input({
    id: filled,
    event: Type.Optional(text),
    name: Type.Optional(text),
    status: Type.Optional(text),
    timestamp: Type.Optional(moment),
    type: Type.Optional(text),
    payload: Type.Optional(freeForm),
  }),
)
export type WebhookPayload = Static<typeof WebhookPayload>

export const WebhookAnswer = named('WebhookAnswer', Type.Object({ id: text }))
