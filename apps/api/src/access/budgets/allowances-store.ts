// The rows by which processes share a limit.
import type { Sql } from '../../storage/sql.ts'

export interface AllowanceKey {
  readonly tenantId: string
  readonly budget: string
  /** The space or the user; empty for the tenant. */
  readonly subject: string
  /** The day it counts for, or a fixed one for what no day ends. */
  readonly period: string
}

export interface AllowanceChange {
  readonly spent: number
  readonly released: number
  readonly wanted: number
  readonly max: number
}

/** Gives how much of what was wanted could be set aside. */
export async function takeAllowance(
  system: Sql,
  { tenantId, budget, subject, period }: AllowanceKey,
  replicaId: string,
  { spent, released, wanted, max }: AllowanceChange,
): Promise<number> {
  const [row] = await system<{ granted: number }[]>`
    select take_allowance(${tenantId}, ${budget}, ${subject}, ${period}::date, ${replicaId}, ${spent}, ${released}, ${wanted}, ${max})
      as granted`
  return row!.granted
}

/** Spent for good, without what is only set aside. */
export async function spentOf(system: Sql, { tenantId, budget, subject, period }: AllowanceKey): Promise<number> {
  const [row] = await system<{ spent: number }[]>`
    select coalesce(sum(spent), 0)::bigint as spent from allowances
    where tenant_id = ${tenantId} and budget = ${budget} and subject = ${subject} and period = ${period}::date`
  return row!.spent
}

/** Days that are over, and places held by processes that are gone. */
export async function sweepAllowances(system: Sql): Promise<void> {
  await system`
    delete from allowances a
    where a.period < (now() at time zone 'UTC')::date - 1 and (a.period <> 'epoch' or a.held = 0 or not exists (
      select from authz_replica r where r.id = a.replica_id and r.renewed_at > now() - interval '1 minute'))`
}
