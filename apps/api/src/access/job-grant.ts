// The grant of a job: whoever enqueued it had passed the door, and the row says who that was and where.
import type { SpaceGrant } from '../base/grant.ts'
import type { Job } from '../storage/jobs.ts'

export function grantForJob(job: Pick<Job, 'tenant_id' | 'space_id' | 'user_id' | 'request_id'>): SpaceGrant {
  if (!job.space_id) throw new Error('This job belongs to no space')
  const { tenant_id: tenantId, user_id: userId, request_id: requestId, space_id: spaceId } = job
  return { tenantId, userId, requestId, spaceId } as SpaceGrant
}
