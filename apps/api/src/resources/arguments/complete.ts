// Argument completion (contract 2.7, 4.2.2): written by a model for one client and one product, then kept for review.
import { toStorableText } from '../../base/storable.ts'
import { resource } from '../../contract/resource.ts'
import { argumentCall, toArgument } from '../../inference/argument.ts'
import { toWords } from '../insights/action-words.ts'
import { getNamed } from '../insights/named-actions-store.ts'
import { askAndLog } from '../logs/ask-and-log.ts'
import { argumentTable } from './arguments-store.ts'
import { ArgumentCompletion, ArgumentRequest } from './shapes.ts'
import { toArgumentView } from './views.ts'

export const complete = resource('arguments', 'space').action(
  'complete',
  'POST',
  '/completions',
)({
  summary: 'Write an argument that speaks to one client for one product',
  permission: 'arguments:create',
  body: ArgumentRequest,
  result: ArgumentCompletion,
  run: async (context, { body }) => {
    const { db, grant } = context
    const { action_id: actionId, ...wanted } = body
    const action = actionId === undefined ? undefined : await db.as(grant, (sql) => getNamed(sql, grant, actionId))
    const asked = await askAndLog(context, {
      api: 'arguments.complete',
      model: body.model,
      callOn: () => argumentCall({ ...wanted, action: action && toWords(action) }),
    })
    const { argument, argument_thinking, ...result } = toArgument(wanted, asked)
    const { client, insight_spec, product } = body
    const subject = { ...(actionId !== undefined && { action_id: actionId }), client, insight_spec, product }
    // Where there is no argument there is nothing to review, so nothing is kept.
    if (argument === undefined) return { ...subject, ...result }
    const values = {
      ...subject,
      argument: toStorableText(argument),
      argument_thinking: toStorableText(argument_thinking ?? ''),
    }
    const row = await db.begin(grant, (sql) => argumentTable.insertIn(sql, grant, values, asked.logId))
    return { ...toArgumentView(row), ...result }
  },
})
