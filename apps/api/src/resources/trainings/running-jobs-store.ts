// The trainings and evaluations of a space that are running, for the state view of the embedded engine (contract 2.11).
import type { NodeJob, Viewer } from '../../outside/compute/driver.ts'
import type { Client } from '../../storage/sql.ts'

interface RunningJob {
  readonly id: string
  readonly attempt: number
  readonly kind: 'training' | 'evaluation'
}

const TYPES = { training: 1, evaluation: 2 } as const

/** Wherever they run: this process may not be the one. So what each of them takes up is not known here. */
export async function embeddedJobs(system: Client, { tenantId, spaceId }: Viewer): Promise<NodeJob[]> {
  const jobs = await system<RunningJob[]>`
    select id, attempt, 'training' as kind from trainings
    where tenant_id = ${tenantId} and space_id = ${spaceId} and status in ('running', 'cancelling')
    union all
    select id, attempt, 'evaluation' from evaluations
    where tenant_id = ${tenantId} and space_id = ${spaceId} and status = 'running'`
  return jobs.map(({ id, attempt, kind }) => ({
    job_id: id,
    job_hash: `${id}:${attempt}`,
    job_generation: attempt,
    job_type: TYPES[kind],
  }))
}
