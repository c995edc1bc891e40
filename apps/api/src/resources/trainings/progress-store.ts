// What a running training has come to so far: rounds and checkpoints, added in batches by the attempt at hand alone.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Sql } from '../../storage/sql.ts'
import { insertCheckpoints, type NewCheckpoint } from '../checkpoints/stored-checkpoints-store.ts'

/** A file as the validation found it: the training reads this version of it and no other. */
export interface PinnedFile {
  readonly connector_id: string
  readonly key: string
  readonly size: number
  readonly etag: string
}

export interface Progress {
  readonly rounds: readonly { readonly step: number }[]
  readonly checkpoints: readonly NewCheckpoint[]
}

/** False when the training was cancelled, deleted or taken over. Call it inside a transaction. */
export async function addProgress(
  sql: Sql,
  grant: SpaceGrant,
  trainingId: string,
  attempt: number,
  { rounds, checkpoints }: Progress,
): Promise<boolean> {
  const [training] = await sql<{ id: string; name: string; data_model_id: string }[]>`
    select id, name, data_model_id from trainings
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${trainingId}
      and status = 'running' and attempt = ${attempt} for share`
  if (!training) return false
  if (rounds.length > 0) {
    await sql`
      insert into training_rounds (tenant_id, space_id, training_id, step, round)
      select ${grant.tenantId}, ${grant.spaceId}, ${trainingId}, (round ->> 'step')::int, round
      from jsonb_array_elements(${sql.json(rounds as never)}) as given (round)
      on conflict on constraint training_rounds_pk do nothing`
  }
  if (checkpoints.length > 0) await insertCheckpoints(sql, grant, training, checkpoints)
  return true
}

/** Notes which version of each file the training reads; false when it was changed, cancelled or deleted meanwhile. */
export async function pinFiles(
  sql: Sql,
  grant: SpaceGrant,
  trainingId: string,
  revision: number,
  files: readonly PinnedFile[],
): Promise<boolean> {
  const pinned = await sql`
    update trainings set files = ${sql.json(files as never)}
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${trainingId}
      and status = 'validating' and revision = ${revision}`
  return pinned.count > 0
}

export async function pinnedFilesOf(sql: Sql, grant: SpaceGrant, trainingId: string): Promise<PinnedFile[]> {
  const [training] = await sql<{ files: PinnedFile[] }[]>`
    select files from trainings
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${trainingId}`
  return training?.files ?? []
}
