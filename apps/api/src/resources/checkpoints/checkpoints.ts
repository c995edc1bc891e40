// Checkpoints (contract 2.10, 4.2.4): the models that trainings have come to so far.
import { Type } from 'typebox'
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { getCheckpoint, listCheckpoints } from './checkpoints-store.ts'
import { Checkpoint, ListedCheckpoint } from './shapes.ts'

const checkpoints = resource('checkpoints', 'space')

export default [
  checkpoints.list({
    summary: 'List checkpoints, of one training or of all',
    query: Type.Object({
      ...cursor(10).properties,
      training_id: Type.Optional(Type.String({ minLength: 1, description: 'Only those of this training' })),
    }),
    result: pageOf(ListedCheckpoint),
    run: ({ db, grant }, { query }) => db.as(grant, (sql) => listCheckpoints(sql, grant, query, query.training_id)),
  }),

  checkpoints.get({
    summary: 'Get a checkpoint',
    result: Checkpoint,
    run: ({ db, grant }, { id }) => db.as(grant, (sql) => getCheckpoint(sql, grant, id)),
  }),
]
