// Arguments, their review and their completion on the wire (contract 2.7, 4.2.2).
import { type Static, Type } from 'typebox'
import { changes, choice, freeForm, input, named, pages, text, timestamp } from '../../contract/shapes.ts'
import { maxTokens, modelName, temperature, topP } from '../chats/shapes.ts'

export const ReviewStatus = choice('pending', 'waiting_review', 'reviewing', 'success', 'failed')
export type ReviewStatus = Static<typeof ReviewStatus>

const InsightSpec = named(
  'InsightSpec',
  changes(input({ examples: Type.Array(text, { maxItems: 1000 }), template: text, type: text })),
)
const ProductSpec = named('ProductSpec', changes(input({ name: text, description: text })))

const judged = { original_argument_score: text, reviewed_argument: text }
const Review = named(
  'ArgumentReview',
  Type.Object({
    status: ReviewStatus,
    ...Type.Partial(Type.Object({ ...judged, reviewed_at: timestamp, reviewed_by: text })).properties,
  }),
)

const passedOver = Type.String({ description: 'Set by the service; what a client sends here is passed over' })
const ReviewChanges = named(
  'ArgumentReviewChanges',
  changes(input({ status: ReviewStatus, ...judged, reviewed_at: passedOver, reviewed_by: passedOver })),
)
export type ReviewChanges = Static<typeof ReviewChanges>

const subject = { client: freeForm, insight_spec: InsightSpec, product: ProductSpec }
const words = { argument: text, argument_thinking: text }

export const Argument = named(
  'Argument',
  Type.Object({
    _id: text,
    id: text,
    action_id: Type.Optional(text),
    ...words,
    ...subject,
    review: Review,
    space: text,
    created_at: timestamp,
    updated_at: Type.Optional(timestamp),
    deleted_at: Type.Optional(Type.String({ description: 'Not in answers: a deleted argument is gone' })),
  }),
)
export type Argument = Static<typeof Argument>

export const ArgumentChanges = named(
  'ArgumentChanges',
  changes(input({ action_id: text, ...words, ...subject, review: ReviewChanges })),
)
export type ArgumentChanges = Static<typeof ArgumentChanges>

export const ArgumentRequest = named(
  'ArgumentCompletionRequest',
  input({
    model: modelName,
    ...subject,
    action_id: Type.Optional(text),
    echo: Type.Optional(Type.Boolean()),
    max_tokens: Type.Optional(maxTokens),
    temperature: Type.Optional(temperature),
    top_p: Type.Optional(topP),
  }),
)

export const ArgumentCompletion = named(
  'ArgumentCompletion',
  Type.Object({
    ...Type.Partial(Type.Object({ id: text, action_id: text, ...words, review: Review })).properties,
    ...subject,
    created_at: Type.Optional(timestamp),
    updated_at: Type.Optional(timestamp),
    duration: Type.Number({ description: 'Seconds' }),
    error: Type.Optional(text),
  }),
)

export const ArgumentFilter = Type.Object({
  ...pages(100).properties,
  status: Type.Optional(ReviewStatus),
  action_id: Type.Optional(text),
})
export type ArgumentFilter = Static<typeof ArgumentFilter>
