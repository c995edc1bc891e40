// Insights (contract 2.17, 4.2.9): for one client, which of some actions to take, where and when, and why.
import { type Static, Type } from 'typebox'
import type { Context } from '../../contract/context.ts'
import { resource } from '../../contract/resource.ts'
import { filled, input, named, text } from '../../contract/shapes.ts'
import { insightCall, toInsight } from '../../inference/insight.ts'
import { maxTokens, modelName, temperature, topP, Usage } from '../chats/shapes.ts'
import { askAndLog } from '../logs/ask-and-log.ts'
import { toWords } from './action-words.ts'
import { readNamed, readOffered } from './named-actions-store.ts'

const InsightRequest = named(
  'InsightRequest',
  input({
    client: Type.String({ minLength: 1, description: 'What is known about the client, in words' }),
    actions: Type.Optional(
      Type.Array(filled, {
        maxItems: 100,
        description: 'Ids or names of stored actions, or words; the active ones of the space when none is given',
      }),
    ),
    model: Type.Optional(modelName),
    echo: Type.Optional(Type.Boolean()),
    max_tokens: Type.Optional(maxTokens),
    temperature: Type.Optional(temperature),
    top_p: Type.Optional(topP),
  }),
)
type InsightRequest = Static<typeof InsightRequest>

const said = {
  type: text,
  actions: text,
  argument: text,
  argument_content: text,
  argument_thinking: text,
  best_channel: text,
  best_time: text,
  timeliness: text,
  insight: text,
  thinking: text,
  error: text,
}
const Insight = named(
  'Insight',
  Type.Object({
    id: Type.String({ description: 'Also the id of its log' }),
    ...Type.Partial(Type.Object(said)).properties,
    finish_reason: text,
    elapsed_time_in_seconds: Type.Number(),
    usage: Usage,
  }),
)

export default [
  resource('insights', 'space').create({
    summary: 'Find out which action suits a client, where and when to take it, and why',
    body: InsightRequest,
    result: Insight,
    run: async (context, { body }) => {
      const wanted = { ...body, actions: await actionsFor(context, body) }
      const asked = await askAndLog(context, {
        api: 'insights.create',
        model: body.model,
        callOn: (model) => insightCall({ ...wanted, model }),
      })
      return toInsight(asked.logId, { ...wanted, model: asked.reply.model }, asked)
    },
  }),
]

const actionsFor = ({ db, grant }: Context<'space'>, { actions = [] }: InsightRequest): Promise<string[]> =>
  db.as(grant, async (sql) => {
    const found = await (actions.length > 0 ? readNamed(sql, grant, actions) : readOffered(sql, grant))
    return found.map((action) => (typeof action === 'string' ? action : toWords(action)))
  })
