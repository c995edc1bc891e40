// Removes the files of checkpoints after their training was deleted, or their whole space.
import { grantForJob } from '../access/job-grant.ts'
import type { CheckpointStore } from '../outside/checkpoint-store/checkpoint-store.ts'
import type { Job } from '../storage/jobs.ts'
import { checkpointFolder } from './training-program.ts'
import type { Handler } from './worker.ts'

export function trainingRemoveFiles(checkpoints: CheckpointStore): Handler {
  const remove = async (job: Job) => {
    const { tenantId, spaceId } = grantForJob(job)
    const { id } = job.payload
    await checkpoints.removeAll(checkpointFolder(tenantId, spaceId, ...(typeof id === 'string' ? [id] : [])))
  }
  // No record names the files any more, so what is left behind now stays for good.
  return Object.assign(remove, { isNeverGivenUp: true })
}
