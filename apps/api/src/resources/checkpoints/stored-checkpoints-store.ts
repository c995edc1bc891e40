// Where the files of checkpoints lie, and how many checkpoints a space has: both change only here.
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import type { Sql } from '../../storage/sql.ts'

/** The two files of a checkpoint in the checkpoint store, and what they must hash to. */
export interface StoredFiles {
  readonly model_key: string
  readonly sha256: string
  readonly encoding_key: string
  readonly encoding_sha256: string
}

export interface NewCheckpoint extends StoredFiles {
  readonly step: number
}

interface Parent {
  readonly id: string
  readonly name: string
  readonly data_model_id: string
}

/** A checkpoint that is there already, from an earlier attempt, stays: the same seed and data made the same file. */
export async function insertCheckpoints(
  sql: Sql,
  grant: SpaceGrant,
  training: Parent,
  checkpoints: readonly NewCheckpoint[],
): Promise<void> {
  const rows = checkpoints.map((checkpoint) => ({
    ...checkpoint,
    tenant_id: grant.tenantId,
    space_id: grant.spaceId,
    id: newId(),
    training_id: training.id,
    data_model_id: training.data_model_id,
    name: `${training.name} step ${checkpoint.step}`,
    created_by: grant.userId,
  }))
  const inserted = await sql<{ fresh: boolean }[]>`
    insert into checkpoints ${sql(rows as never)}
    on conflict on constraint checkpoints_step_key do update set
      sha256 = excluded.sha256, model_key = excluded.model_key,
      encoding_key = excluded.encoding_key, encoding_sha256 = excluded.encoding_sha256
    returning xmax = 0 as fresh`
  await countCheckpoints(sql, grant, inserted.filter(({ fresh }) => fresh).length)
}

export async function findStoredFiles(
  sql: Sql,
  grant: SpaceGrant,
  checkpointId: string,
): Promise<StoredFiles | undefined> {
  const [files] = await sql<StoredFiles[]>`
    select model_key, sha256, encoding_key, encoding_sha256 from checkpoints
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and id = ${checkpointId}`
  return files
}

export async function findBestCheckpoint(sql: Sql, grant: SpaceGrant, trainingId: string): Promise<string | undefined> {
  const [best] = await sql<{ id: string }[]>`
    select id from checkpoints
    where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and training_id = ${trainingId}
    order by step desc limit 1`
  return best?.id
}

/** Before a training goes: its checkpoints no longer count, and their scores leave the leaderboards. */
export async function retireCheckpoints(sql: Sql, grant: SpaceGrant, trainingId: string): Promise<void> {
  const gone = await sql`
    with gone as (
      delete from checkpoints
      where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId} and training_id = ${trainingId} returning id
    ), scores as (
      update checkpoint_scores s set retired_at = now() from gone
      where s.tenant_id = ${grant.tenantId} and s.space_id = ${grant.spaceId} and s.checkpoint_id = gone.id
    )
    select from gone`
  await countCheckpoints(sql, grant, -gone.count)
}

async function countCheckpoints(sql: Sql, grant: SpaceGrant, more: number): Promise<void> {
  if (more === 0) return
  await sql`
    insert into checkpoint_counts (tenant_id, space_id, count) values (${grant.tenantId}, ${grant.spaceId}, ${more})
    on conflict (tenant_id, space_id) do update set count = checkpoint_counts.count + excluded.count`
}
