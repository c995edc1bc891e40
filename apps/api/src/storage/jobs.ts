// Work to be done after the answer: enqueued in the transaction of the change, claimed by one worker at a time.
import type { Grant } from '../base/grant.ts'
import { newId } from '../base/ids.ts'
import type { Client, Sql } from './sql.ts'

export interface Job {
  readonly id: string
  readonly tenant_id: string
  readonly space_id: string | undefined
  readonly user_id: string
  readonly request_id: string
  readonly name: string
  readonly payload: Record<string, unknown>
  /** 1 on the first run. */
  readonly attempt: number
}

export interface Jobs {
  enqueue(sql: Sql, grant: Grant & { spaceId?: string }, name: string, payload: object): Promise<void>
}

export const jobs: Jobs = {
  async enqueue(sql, grant, name, payload) {
    await sql`
      insert into jobs (id, tenant_id, space_id, user_id, request_id, name, payload)
      values (${newId()}, ${grant.tenantId}, ${grant.spaceId ?? null}, ${grant.userId}, ${grant.requestId}, ${name},
        ${sql.json(payload as never)})`
    await sql`select pg_notify('amphi_jobs', '')`
  },
}

/** Takes one due job of the given names for a while. A worker that dies loses it when that while is over. */
export async function claimJob(
  system: Client,
  names: readonly string[],
  leaseSeconds: number,
): Promise<Job | undefined> {
  const [job] = await system<Job[]>`
    update jobs set attempt = attempt + 1, locked_until = now() + make_interval(secs => ${leaseSeconds})
    where id = (
      select id from jobs
      where name = any(${names as string[]}) and run_after <= now() and (locked_until is null or locked_until < now())
      order by run_after, id limit 1 for update skip locked
    )
    returning *`
  return job
}

/** Holds on to a job for another while; false when it is no longer this worker's. */
export async function renewJob(system: Client, job: Job, leaseSeconds: number): Promise<boolean> {
  const renewed = await system`
    update jobs set locked_until = now() + make_interval(secs => ${leaseSeconds})
    where id = ${job.id} and attempt = ${job.attempt}`
  return renewed.count > 0
}

/** Gives a job back as it was: an interruption of ours is no failure of the job. */
export async function releaseJob(system: Client, job: Job): Promise<void> {
  await system`
    update jobs set locked_until = null, attempt = attempt - 1 where id = ${job.id} and attempt = ${job.attempt}`
  await system`select pg_notify('amphi_jobs', '')`
}

export async function completeJob(system: Client, job: Job): Promise<void> {
  await system`delete from jobs where id = ${job.id} and attempt = ${job.attempt}`
}

export async function retryJob(system: Client, job: Job, delaySeconds: number, reason: string): Promise<void> {
  await system`
    update jobs set run_after = now() + make_interval(secs => ${delaySeconds}), locked_until = null, last_error = ${reason}
    where id = ${job.id} and attempt = ${job.attempt}`
}
