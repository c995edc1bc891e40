// Arguments (contract 2.7, 3.2, 4.2.2): what a model wrote to convince a client, and what reviewers made of it.
import { Type } from 'typebox'
import { resource } from '../../contract/resource.ts'
import { getNamed } from '../insights/named-actions-store.ts'
import { argumentTable, listArguments, lockReview } from './arguments-store.ts'
import { complete } from './complete.ts'
import { toReviewColumns } from './review.ts'
import { Argument, ArgumentChanges, ArgumentFilter } from './shapes.ts'
import { toArgumentView } from './views.ts'

const args = resource('arguments', 'space')

export default [
  args.list({
    summary: 'Find arguments, the newest first',
    query: ArgumentFilter,
    result: Type.Array(Argument),
    run: ({ db, grant }, { query }) =>
      db.as(grant, async (sql) => (await listArguments(sql, grant, query)).map(toArgumentView)),
  }),

  complete,

  args.get({
    summary: 'Get an argument',
    result: Argument,
    run: async ({ db, grant }, { id }) => toArgumentView(await argumentTable.get(db, grant, id)),
  }),

  args.update({
    summary: 'Update an argument, or take its review a step further',
    body: ArgumentChanges,
    result: Argument,
    run: ({ db, grant }, { id, body: { review, ...values } }) =>
      db.begin(grant, async (sql) => {
        const current = await lockReview(sql, grant, id)
        if (values.action_id !== undefined) await getNamed(sql, grant, values.action_id)
        const by = { userId: grant.userId, at: new Date().toISOString() }
        const reviewed = review ? toReviewColumns(current, review, by) : {}
        return toArgumentView(await argumentTable.updateIn(sql, grant, id, { ...values, ...reviewed }))
      }),
  }),

  args.remove({
    summary: 'Delete an argument',
    run: ({ db, grant }, { id }) => argumentTable.remove(db, grant, id),
  }),
]
