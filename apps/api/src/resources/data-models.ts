// Data models (contract 2.13): the named thing that trainings train.
import { type Static, Type } from 'typebox'
import { resource } from '../contract/resource.ts'
import { changes, cursor, filled, input, named, pageOf, text, timestamp } from '../contract/shapes.ts'
import { spaceTable } from '../storage/space-table.ts'

const fields = { name: filled, description: Type.Optional(text) }
const NewDataModel = named('NewDataModel', input(fields))
const DataModel = named(
  'DataModel',
  Type.Object({ id: text, ...fields, created_at: timestamp, updated_at: Type.Optional(timestamp) }),
)

const table = spaceTable<Static<typeof DataModel>>('data_models', 'data model', {
  conflicts: { trainings_data_model_fk: 'A training uses this data model' },
})
const dataModels = resource('data-models', 'space')

export default [
  dataModels.list({
    summary: 'List data models',
    query: cursor(10),
    result: pageOf(DataModel),
    run: ({ db, grant }, { query }) => table.page(db, grant, query),
  }),

  dataModels.create({
    summary: 'Create a data model',
    body: NewDataModel,
    result: DataModel,
    run: ({ db, grant }, { body }) => table.insert(db, grant, body),
  }),

  dataModels.get({
    summary: 'Get a data model',
    result: DataModel,
    run: ({ db, grant }, { id }) => table.get(db, grant, id),
  }),

  dataModels.update({
    summary: 'Update a data model',
    body: named('DataModelChanges', changes(NewDataModel)),
    result: DataModel,
    run: ({ db, grant }, { id, body }) => table.update(db, grant, id, body),
  }),

  dataModels.remove({
    summary: 'Delete a data model',
    run: ({ db, grant }, { id }) => table.remove(db, grant, id),
  }),
]
