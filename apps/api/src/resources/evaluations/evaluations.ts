// Evaluations (contract 2.14, 3.4, 4.2.7): a checkpoint measured by a benchmark.
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { assertReferences } from '../trainings/references-store.ts'
import { evaluationTable, requestEvaluation } from './evaluations-store.ts'
import { Evaluation, NewEvaluation } from './shapes.ts'

const evaluations = resource('evaluations', 'space')

export default [
  evaluations.list({
    summary: 'List evaluations',
    query: cursor(10),
    result: pageOf(Evaluation),
    run: ({ db, grant }, { query }) => evaluationTable.page(db, grant, query),
  }),

  evaluations.create({
    summary: 'Evaluate a checkpoint by a benchmark; the result comes afterwards',
    body: NewEvaluation,
    result: Evaluation,
    run: ({ db, grant, jobs }, { body }) =>
      db.begin(grant, async (sql) => {
        await assertReferences(sql, grant, 'benchmarks', [body.benchmark_id], 'benchmark_id')
        await assertReferences(sql, grant, 'checkpoints', [body.checkpoint_id], 'checkpoint_id')
        return requestEvaluation(sql, grant, jobs, body)
      }),
  }),

  evaluations.get({
    summary: 'Get an evaluation',
    result: Evaluation,
    run: ({ db, grant }, { id }) => evaluationTable.get(db, grant, id),
  }),
]
