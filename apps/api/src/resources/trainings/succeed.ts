// How a training succeeds (contract 2.22): its best checkpoint is then evaluated by each of its benchmarks.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Jobs } from '../../storage/jobs.ts'
import type { Sql } from '../../storage/sql.ts'
import { findBestCheckpoint } from '../checkpoints/stored-checkpoints-store.ts'
import { requestEvaluation } from '../evaluations/evaluations-store.ts'
import { moveTraining, type Step } from './training-state-store.ts'
import { getTrainingRow } from './trainings-store.ts'

/** False when the training no longer runs, and then nothing is evaluated. Call it inside a transaction. */
export async function succeedTraining(
  sql: Sql,
  grant: SpaceGrant,
  jobs: Jobs,
  id: string,
  step: Pick<Step, 'attempt' | 'reason'> = {},
): Promise<boolean> {
  if (!(await moveTraining(sql, grant, id, { from: 'running', to: 'succeeded', ...step }))) return false
  const checkpoint_id = await findBestCheckpoint(sql, grant, id)
  if (checkpoint_id === undefined) return true
  const { benchmark_ids } = await getTrainingRow(sql, grant, id)
  for (const benchmark_id of benchmark_ids) {
    await requestEvaluation(sql, grant, jobs, { benchmark_id, checkpoint_id, gpu_count: 0 })
  }
  return true
}
