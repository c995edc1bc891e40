// What people may do to a training that is there: change it, cancel it, delete it (contract 3.3, 4.2.13).
import type { SpaceGrant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import type { Services } from '../../contract/context.ts'
import type { Sql } from '../../storage/sql.ts'
import { retireCheckpoints } from '../checkpoints/stored-checkpoints-store.ts'
import { assertConnectors } from '../connectors/connectors-store.ts'
import { assertReferences } from './references-store.ts'
import type { Training } from './shapes.ts'
import { announce, beginCancelling, isFinal, moveTraining } from './training-state-store.ts'
import {
  deleteTraining,
  getTraining,
  lockTraining,
  note,
  type TrainingUpdate,
  updateTraining,
} from './trainings-store.ts'

type Jobs = Services['jobs']

export async function changeTraining(
  sql: Sql,
  grant: SpaceGrant,
  jobs: Jobs,
  id: string,
  update: TrainingUpdate,
): Promise<Training> {
  const before = await lockTraining(sql, grant, id)
  const { architecture, configuration, connector, benchmark_ids } = update
  const changesWork = architecture !== undefined || configuration !== undefined || connector !== undefined
  if (changesWork && before.status !== 'validating' && before.status !== 'queued') {
    const message = `The training is ${before.status}: architecture, configuration and connectors stay as they are`
    throw new Problem('conflict', message)
  }
  if (connector) await assertConnectors(sql, grant, [connector.connector_id], 'connector.connector_id')
  if (benchmark_ids) await assertReferences(sql, grant, 'benchmarks', benchmark_ids, 'benchmark_ids')
  if (Object.keys(update).length > 0) await updateTraining(sql, grant, before, update, changesWork)
  if (changesWork) {
    const reason = 'It was changed'
    if (before.status === 'queued') await moveTraining(sql, grant, id, { from: 'queued', to: 'validating', reason })
    await jobs.enqueue(sql, grant, 'trainings.validate', { id, revision: before.revision + 1 })
  }
  return getTraining(sql, grant, id)
}

/** Asking twice changes nothing. */
export async function cancelTraining(sql: Sql, grant: SpaceGrant, id: string): Promise<Training> {
  const { status } = await lockTraining(sql, grant, id)
  if (isFinal(status)) throw new Problem('conflict', `The training is ${status} already`)
  if (status !== 'cancelling') {
    await beginCancelling(sql, grant, id, status, `Cancelled by ${grant.userId}`)
    await note(sql, grant, 'cancel', id, { before: { status } })
  }
  return getTraining(sql, grant, id)
}

/** Takes its checkpoints and their evaluations along; the files go afterwards. Whoever runs it finds it gone and stops. */
export async function removeTraining(sql: Sql, grant: SpaceGrant, jobs: Jobs, id: string): Promise<void> {
  const before = await lockTraining(sql, grant, id)
  await retireCheckpoints(sql, grant, id)
  await deleteTraining(sql, grant, before)
  await announce(sql, id)
  await jobs.enqueue(sql, grant, 'checkpoints.remove-files', { id })
}
