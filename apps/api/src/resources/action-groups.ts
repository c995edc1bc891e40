// Action groups (contract 2.5): names under which a client gathers actions.
import { type Static, Type } from 'typebox'
import { resource } from '../contract/resource.ts'
import { changes, cursor, filled, input, named, pageOf, text, timestamp } from '../contract/shapes.ts'
import { spaceTable } from '../storage/space-table.ts'

const fields = { name: filled, description: text }
const NewActionGroup = named('NewActionGroup', input(fields))
const ActionGroup = named(
  'ActionGroup',
  Type.Object({ id: text, ...fields, created_at: timestamp, updated_at: Type.Optional(timestamp) }),
)

const table = spaceTable<Static<typeof ActionGroup>>('action_groups', 'action group')
const actionGroups = resource('action-groups', 'space')

export default [
  actionGroups.list({
    summary: 'List action groups',
    query: cursor(10),
    result: pageOf(ActionGroup),
    run: ({ db, grant }, { query }) => table.page(db, grant, query),
  }),

  actionGroups.create({
    summary: 'Create an action group',
    body: NewActionGroup,
    result: ActionGroup,
    run: ({ db, grant }, { body }) => table.insert(db, grant, body),
  }),

  actionGroups.get({
    summary: 'Get an action group',
    result: ActionGroup,
    run: ({ db, grant }, { id }) => table.get(db, grant, id),
  }),

  actionGroups.update({
    summary: 'Update an action group',
    body: named('ActionGroupChanges', changes(NewActionGroup)),
    result: ActionGroup,
    run: ({ db, grant }, { id, body }) => table.update(db, grant, id, body),
  }),

  actionGroups.remove({
    summary: 'Delete an action group',
    run: ({ db, grant }, { id }) => table.remove(db, grant, id),
  }),
]
