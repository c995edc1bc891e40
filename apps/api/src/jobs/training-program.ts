// A training on the embedded engine, from the stored files to the stored checkpoints.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { grantForJob } from '../access/job-grant.ts'
import type { SpaceGrant } from '../base/grant.ts'
import type { Services } from '../contract/context.ts'
import type { CheckpointStore } from '../outside/checkpoint-store/checkpoint-store.ts'
import type { Program } from '../outside/compute/embedded/engine.ts'
import type { Scratch } from '../outside/compute/embedded/scratch.ts'
import { addProgress, pinnedFilesOf } from '../resources/trainings/progress-store.ts'
import { findStanding } from '../resources/trainings/training-state-store.ts'
import { getTrainingRow } from '../resources/trainings/trainings-store.ts'
import { findJobByToken, type JobEntity } from '../resources/webhooks/entities-store.ts'
import { jobTokenHash } from '../resources/webhooks/job-token.ts'
import type { Client } from '../storage/sql.ts'
import { runTrainer } from '../training/run-trainer.ts'
import { bringFiles } from './training-files.ts'
import { TrainingProgress } from './training-progress.ts'

export interface ProgramServices extends Pick<Services, 'db' | 'vault' | 'objects'> {
  readonly system: Client
  readonly checkpoints: CheckpointStore
  readonly scratch: Scratch
  readonly limits: { readonly threads: number; readonly memoryBytes: number }
}

export function trainingProgram(services: ProgramServices): Program {
  const { db, checkpoints, scratch, limits } = services
  return async ({ token, attempt }, { signal, log }) => {
    const { grant, id } = await openAssignment(services.system, token)
    const training = await db.as(grant, (sql) => getTrainingRow(sql, grant, id))
    const files = await db.as(grant, (sql) => pinnedFilesOf(sql, grant, id))
    await scratch.during(async (folder) => {
      log(`Fetching ${files.length} files`)
      const data = await bringFiles(services, grant, files, folder, signal)
      const outputFolder = join(folder, 'out')
      await mkdir(outputFolder)
      const kept = checkpointFolder(grant.tenantId, grant.spaceId, id)
      const progress = new TrainingProgress({
        store: checkpoints,
        folder: kept,
        save: (batch) => db.begin(grant, (sql) => addProgress(sql, grant, id, attempt, batch)),
      })
      const { architecture, configuration } = training
      try {
        const result = await runTrainer(
          { kind: 'train', ...data, architecture, configuration, outputFolder, ...limits },
          {
            onRound: (round) => progress.addRound(round),
            onCheckpoint: (checkpoint) => progress.addCheckpoint(checkpoint),
            signal: AbortSignal.any([signal, progress.failed]),
          },
        )
        log(`Ended after ${result.steps} rounds`)
      } finally {
        await progress.finish(signal.aborted).finally(() => removeOrphans(services, grant, id, kept))
      }
    })
  }
}

/** Where the checkpoints of a space lie in the checkpoint store, or those of one of its trainings. */
export const checkpointFolder = (tenantId: string, spaceId: string, ...trainingId: string[]): string =>
  [encodeURIComponent(tenantId).replaceAll('.', '%2E'), spaceId, ...trainingId].join('/')

/** A training that was deleted had its files removed then; what was stored since goes as well. */
async function removeOrphans({ db, checkpoints }: ProgramServices, grant: SpaceGrant, id: string, folder: string) {
  const standing = await db.as(grant, (sql) => findStanding(sql, grant, id))
  if (!standing) await checkpoints.removeAll(folder)
}

/** A job is given its token and no more; the token tells what it is about, and for whom. */
export async function openAssignment(system: Client, token: string) {
  const job: JobEntity | undefined = await findJobByToken(system, jobTokenHash(token))
  if (!job) throw new Error('The job was ended or taken over before it began')
  const { tenant_id, space_id, created_by: user_id, id } = job
  return { grant: grantForJob({ tenant_id, space_id, user_id, request_id: id }), id }
}
