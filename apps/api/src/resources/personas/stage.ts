// Uploading personas (contract 4.2.12): rows are staged as they arrive, and nothing can be seen of them before finalizing.
//
// Staging takes many short transactions and not a long one: a client that sends slowly would otherwise keep a connection
// to itself for minutes. Only the last of them gives the upload its token, so one that is cut off cannot be finalized.
import type { SpaceGrant } from '../../base/grant.ts'
import { newId } from '../../base/ids.ts'
import type { SentFile } from '../../contract/files.ts'
import type { Database } from '../../storage/database.ts'
import type { PersonaRow } from './upload/persona-row.ts'
import { readPersonas } from './upload/read-personas.ts'
import { newUploadToken } from './upload-token.ts'
import { completeUpload, discardUpload, findConflicts, insertBatch, openUpload } from './uploads-store.ts'

const BATCH_LENGTH = 64 * 1024

export async function stageUpload(db: Database, grant: SpaceGrant, files: AsyncIterable<SentFile>) {
  const staging = new Staging(db, grant)
  try {
    for await (const personas of readPersonas(files)) await staging.add(personas)
    return await staging.complete()
  } catch (error) {
    await staging.discard()
    throw error
  }
}

class Staging {
  readonly #db: Database
  readonly #grant: SpaceGrant
  readonly #id = newId()
  #total = 0
  #batch: string[] = []
  #batchLength = 0
  #batchStart = 0
  /** One batch is on its way to the database while the next one is read. */
  #sending: Promise<void> | undefined

  constructor(db: Database, grant: SpaceGrant) {
    this.#db = db
    this.#grant = grant
  }

  async add(personas: readonly PersonaRow[]): Promise<void> {
    for (const persona of personas) {
      const row = JSON.stringify(persona)
      this.#total++
      this.#batch.push(row)
      this.#batchLength += row.length
      if (this.#batchLength >= BATCH_LENGTH) await this.#send()
    }
  }

  async complete() {
    await this.#send()
    await this.#sending
    const token = newUploadToken()
    const total = this.#total
    const conflicts = await this.#db.begin(this.#grant, async (sql) => {
      const found = await findConflicts(sql, this.#grant, this.#id)
      await completeUpload(sql, this.#grant, { id: this.#id, total, repeats: found.repeats }, token)
      return found
    })
    return {
      status: 'staged' as const,
      message: `${total} personas are staged, ${conflicts.total} of them in conflict. Finalize the upload within a day.`,
      total,
      conflict_personas: conflicts.first,
      upload_token: token,
    }
  }

  /** What was staged is of no use any more; the next sweep takes it away. */
  async discard(): Promise<void> {
    await Promise.allSettled([this.#sending])
    if (this.#sending) await this.#db.as(this.#grant, (sql) => discardUpload(sql, this.#grant, this.#id))
  }

  async #send(): Promise<void> {
    const [rows, start] = [this.#batch.join(','), this.#batchStart]
    this.#batch = []
    this.#batchLength = 0
    this.#batchStart = this.#total
    const isFirst = this.#sending === undefined
    await this.#sending
    this.#sending = this.#db.as(this.#grant, async (sql) => {
      if (isFirst) await openUpload(sql, this.#grant, this.#id)
      await insertBatch(sql, this.#grant, this.#id, start, rows)
    })
    // Whoever sends next, completes or discards learns of a failure; until then it is nobody's.
    this.#sending.catch(() => {})
  }
}
