// Records that the database was not there for when the process ended: kept in a file, taken up at the next start.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../base/ids.ts'
import { joinRecords, splitRecords } from './record-text.ts'
import { isFaultOfData } from './sql.ts'
import type { Write } from './write-buffer.ts'

export async function keepForNextStart(folder: string, kind: string, records: readonly string[]): Promise<void> {
  if (records.length > 0) await keep(folder, `left-${kind}-${newId()}.records`, records)
}

/** A file goes only after its records are stored, so they may be taken up twice, also by two processes that start together. */
export async function takeUpLeft(
  folder: string,
  kind: string,
  write: Write,
  onError: (error: Error) => void,
): Promise<void> {
  const names = (await readdir(folder).catch(() => [])).filter(
    (name) => name.startsWith(`left-${kind}-`) && name.endsWith('.records'),
  )
  for (const name of names) {
    const file = join(folder, name)
    const records = splitRecords(await readFile(file, 'utf8').catch(goneIsEmpty))
    const refused: string[] = []
    for (let at = 0; at < records.length; at += 500)
      refused.push(...(await storeAll(write, records.slice(at, at + 500))))
    if (refused.length > 0) {
      // Kept for somebody to look at: they must not keep the service from starting.
      const aside = name.replace(/records$/, 'refused')
      await keep(folder, aside, refused)
      onError(new Error(`${refused.length} of ${records.length} records in ${name} cannot be stored: see ${aside}`))
    }
    await rm(file, { force: true })
  }
}

/** Gives back those that the database will never take. */
async function storeAll(write: Write, records: readonly string[]): Promise<readonly string[]> {
  try {
    await write(records, true)
    return []
  } catch (error) {
    if (!isFaultOfData(error)) throw error
    if (records.length === 1) return records
    const half = Math.ceil(records.length / 2)
    return [...(await storeAll(write, records.slice(0, half))), ...(await storeAll(write, records.slice(half)))]
  }
}

/** Under its name only once it is whole. */
async function keep(folder: string, name: string, records: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const unfinished = join(folder, `${name}.unfinished`)
  await writeFile(unfinished, joinRecords(records), { flush: true, mode: 0o600 })
  await rename(unfinished, join(folder, name))
}

function goneIsEmpty(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return ''
  throw error
}
