// Finalizing an upload (contract 4.2.12): one transaction, so that everything of it is there or nothing.
import type { SpaceGrant } from '../../base/grant.ts'
import { audit } from '../../storage/audit.ts'
import type { Database } from '../../storage/database.ts'
import type { Sql } from '../../storage/sql.ts'
import { createAll, createNew, overwriteKnown } from './finalize-store.ts'
import type { Resolution } from './shapes.ts'
import { claimUpload, closeUpload, findConflicts, type StagedUploadRow } from './uploads-store.ts'

interface Outcome {
  readonly written: number
  readonly conflicts: number
}

export function finalizeUpload(db: Database, grant: SpaceGrant, token: string, resolution: Resolution) {
  return db.begin(grant, async (sql) => {
    const upload = await claimUpload(sql, grant, token)
    const { written, conflicts } = await resolve(sql, grant, upload, resolution)
    await closeUpload(sql, grant, upload.id)
    const counts = { total_uploaded: written, conflicts_resolved: conflicts }
    await audit(sql, grant, {
      action: 'personas.finalize',
      resource: 'personas',
      resourceId: upload.id,
      spaces: [grant.spaceId],
      after: { conflict_resolution: resolution, ...counts },
    })
    const message = `${written} personas are uploaded; ${conflicts} rows in conflict were resolved by ${resolution}.`
    return { status: 'finalized' as const, message, ...counts }
  })
}

/** As if the rows were taken one after the other: a row may also be in conflict with an earlier one of its own upload. */
async function resolve(sql: Sql, grant: SpaceGrant, upload: StagedUploadRow, by: Resolution): Promise<Outcome> {
  switch (by) {
    case 'create': {
      const { total } = await findConflicts(sql, grant, upload.id)
      return { written: await createAll(sql, grant, upload), conflicts: total }
    }
    case 'skip': {
      const created = await createNew(sql, grant, upload, 'first')
      return { written: created, conflicts: upload.total - created }
    }
    case 'overwrite': {
      const overwritten = await overwriteKnown(sql, grant, upload)
      const created = await createNew(sql, grant, upload, 'last')
      return { written: overwritten + created, conflicts: upload.total - created }
    }
  }
}
