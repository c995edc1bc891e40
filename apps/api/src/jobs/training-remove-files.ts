// Removes the files of a training's checkpoints after the training was deleted.
import { grantForJob } from '../access/job-grant.ts'
import type { CheckpointStore } from '../outside/checkpoint-store/checkpoint-store.ts'
import { checkpointFolder } from './training-program.ts'
import type { Handler } from './worker.ts'

export function trainingRemoveFiles(checkpoints: CheckpointStore): Handler {
  return async (job) => {
    const { tenantId, spaceId } = grantForJob(job)
    await checkpoints.removeAll(checkpointFolder(tenantId, spaceId, String(job.payload['id'])))
  }
}
