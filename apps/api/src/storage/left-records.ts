// Records that the database was not there for when the process ended: kept in a file, taken up at the next start.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../base/ids.ts'
import { joinRecords, splitRecords } from './record-text.ts'
import type { Write } from './write-buffer.ts'

export async function keepForNextStart(folder: string, kind: string, records: readonly string[]): Promise<void> {
  if (records.length === 0) return
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `left-${kind}-${newId()}.records`), joinRecords(records), {
    flush: true,
    mode: 0o600,
  })
}

/** A file goes only after its records are stored, so they may be taken up twice, also by two processes that start together. */
export async function takeUpLeft(folder: string, kind: string, write: Write): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.startsWith(`left-${kind}-`) && name.endsWith('.records'),
  )
  for (const name of names) {
    const file = join(folder, name)
    const records = splitRecords(await readFile(file, 'utf8').catch(goneIsEmpty))
    for (let at = 0; at < records.length; at += 500) await write(records.slice(at, at + 500), true)
    await rm(file, { force: true })
  }
}

function goneIsEmpty(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}
