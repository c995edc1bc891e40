// Actions (contract 2.6, 3.1): what may be done for a client, through which channel, and from when until when.
import { type Static, Type } from 'typebox'
import { Problem } from '../base/problem.ts'
import { resource } from '../contract/resource.ts'
import { changes, choice, cursor, filled, input, moment, named, pageOf, text, timestamp } from '../contract/shapes.ts'
import { spaceTable } from '../storage/space-table.ts'

const priority = choice('very_low', 'low', 'medium', 'high', 'very_high')
const status = choice('archived', 'draft', 'active', 'inactive')
const needed = { name: filled, description: text, type: text, priority }
const optional = {
  channel: text,
  channel_template: text,
  custom_insights: text,
  model_id: text,
  start_date: moment,
  end_date: moment,
}
const optionals = Type.Partial(Type.Object(optional)).properties

const NewAction = named('NewAction', input({ ...needed, ...optionals, status: Type.Optional(status) }))
const ActionChanges = named('ActionChanges', changes(input({ ...needed, ...optional, status, group: text })))
const Action = named(
  'Action',
  Type.Object({
    id: text,
    ...needed,
    ...optionals,
    status,
    group: Type.Optional(text),
    created_at: timestamp,
    updated_at: Type.Optional(timestamp),
  }),
)
type Action = Static<typeof Action>

const Filters = Type.Object({
  ...cursor(10).properties,
  status: Type.Optional(status),
  group: Type.Optional(text),
  priority: Type.Optional(priority),
})

const table = spaceTable<Action>('actions', 'action', {
  conflicts: { arguments_action_fk: 'An argument refers to this action' },
})
const actions = resource('actions', 'space')

export default [
  actions.list({
    summary: 'List actions',
    query: Filters,
    result: pageOf(Action),
    run: ({ db, grant }, { query: { limit, after, ...only } }) => table.page(db, grant, { limit, after }, only),
  }),

  actions.create({
    summary: 'Create an action',
    body: NewAction,
    result: Action,
    run: async ({ db, grant }, { body }) => {
      assertOrder(body)
      return table.insert(db, grant, { status: 'draft', ...body })
    },
  }),

  actions.get({
    summary: 'Get an action',
    result: Action,
    run: ({ db, grant }, { id }) => table.get(db, grant, id),
  }),

  actions.update({
    summary: 'Update an action',
    body: ActionChanges,
    result: Action,
    run: ({ db, grant }, { id, body }) =>
      db.begin(grant, async (sql) => {
        const action = await table.updateIn(sql, grant, id, body)
        // One of the dates may have been there before, so the outcome is judged; a refusal takes it back.
        assertOrder(action)
        return action
      }),
  }),

  actions.remove({
    summary: 'Delete an action',
    run: ({ db, grant }, { id }) => table.remove(db, grant, id),
  }),
]

function assertOrder({ start_date, end_date }: Partial<Pick<Action, 'start_date' | 'end_date'>>): void {
  if (start_date === undefined || end_date === undefined || Date.parse(end_date) >= Date.parse(start_date)) return
  throw new Problem('invalid_request', 'end_date must not be before start_date', { param: 'end_date' })
}
