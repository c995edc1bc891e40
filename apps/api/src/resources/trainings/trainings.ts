// Trainings (contract 2.22, 3.3, 4.2.13): what is to be learned from which files, and how far it has come.
import { Type } from 'typebox'
import { Problem } from '../../base/problem.ts'
import { EventStream } from '../../contract/operation.ts'
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf, pages } from '../../contract/shapes.ts'
import { listCheckpoints } from '../checkpoints/checkpoints-store.ts'
import { ListedCheckpoint } from '../checkpoints/shapes.ts'
import { assertConnectors } from '../connectors/connectors-store.ts'
import { cancelTraining, changeTraining, removeTraining } from './change.ts'
import { listEvents } from './events-store.ts'
import { follow } from './follow.ts'
import { assertReferences } from './references-store.ts'
import { NewTraining, Training, TrainingChanges, TrainingEvent } from './shapes.ts'
import { getTraining, getTrainingRow, insertTraining, listTrainings } from './trainings-store.ts'

const trainings = resource('trainings', 'space')

const { page, page_size } = pages(10).properties

export default [
  trainings.list({
    summary: 'List trainings',
    query: Type.Object({
      page,
      pageSize: page_size,
      page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
    }),
    result: pageOf(Training),
    run: ({ db, grant }, { query: { page, pageSize, page_size = pageSize } }) =>
      db.as(grant, (sql) => listTrainings(sql, grant, { page, page_size })),
  }),

  trainings.create({
    summary: 'Create a training; it is validated and run afterwards',
    body: NewTraining,
    result: Training,
    run: ({ db, grant, jobs }, { body: { benchmark_ids = [], ...values } }) =>
      db.begin(grant, async (sql) => {
        const connectorIds = values.connectors.map(({ connector_id }) => connector_id)
        const twice = connectorIds.find((id, at) => connectorIds.indexOf(id) < at)
        if (twice !== undefined) {
          throw new Problem('invalid_request', `The connector ${twice} is listed twice`, { param: 'connectors' })
        }
        await assertReferences(sql, grant, 'data_models', [values.data_model_id], 'data_model_id')
        await assertConnectors(sql, grant, connectorIds, 'connectors')
        await assertReferences(sql, grant, 'benchmarks', benchmark_ids, 'benchmark_ids')
        const training = await insertTraining(sql, grant, { ...values, benchmark_ids })
        await jobs.enqueue(sql, grant, 'trainings.validate', { id: training.id, revision: 0 })
        return training
      }),
  }),

  trainings.get({
    summary: 'Get a training',
    result: Training,
    run: ({ db, grant }, { id }) => db.as(grant, (sql) => getTraining(sql, grant, id)),
  }),

  trainings.update({
    summary: 'Update a training: only what is given changes, and a connector joins the others',
    body: TrainingChanges,
    result: Training,
    run: ({ db, grant, jobs }, { id, body }) => db.begin(grant, (sql) => changeTraining(sql, grant, jobs, id, body)),
  }),

  trainings.remove({
    summary: 'Delete a training, with its checkpoints and their evaluations',
    run: ({ db, grant, jobs }, { id }) => db.begin(grant, (sql) => removeTraining(sql, grant, jobs, id)),
  }),

  trainings.action(
    'cancel',
    'POST',
    '/:id/cancel',
  )({
    summary: 'Cancel a training that has not ended',
    permission: 'trainings:update',
    result: Training,
    run: ({ db, grant }, { id }) => db.begin(grant, (sql) => cancelTraining(sql, grant, id)),
  }),

  trainings.action(
    'checkpoints',
    'GET',
    '/:id/checkpoints',
  )({
    summary: 'List the checkpoints of a training',
    permission: 'checkpoints:list',
    query: cursor(10),
    result: pageOf(ListedCheckpoint),
    run: ({ db, grant }, { id, query }) =>
      db.as(grant, async (sql) => {
        await getTrainingRow(sql, grant, id)
        return listCheckpoints(sql, grant, query, id)
      }),
  }),

  trainings.action(
    'events',
    'GET',
    '/:id/events',
  )({
    summary: 'List the events of a training, newest first',
    permission: 'trainings:get',
    query: cursor(10),
    result: pageOf(TrainingEvent),
    run: ({ db, grant }, { id, query }) =>
      db.as(grant, async (sql) => {
        await getTrainingRow(sql, grant, id)
        return listEvents(sql, grant, id, query)
      }),
  }),

  trainings.action(
    'follow',
    'GET',
    '/:id/events/stream',
  )({
    summary: 'Follow the events of a training as they happen, as server-sent events',
    permission: 'trainings:get',
    run: async (context, { id }) => {
      const { db, grant } = context
      await db.as(grant, (sql) => getTrainingRow(sql, grant, id))
      return new EventStream((send) => follow(context, id, send))
    },
  }),
]
