// Writes a file so that it is there whole or not at all, and still there after a crash.
import { createHash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'

/** The scratch folder must be on the same disk as the folder, for the last step to be a mere renaming. */
export async function writeDurably(folder: string, scratchFolder: string, name: string, text: string) {
  const path = join(folder, name)
  const unfinished = join(scratchFolder, name)
  const file = await open(unfinished, 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  const directory = await open(folder)
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
  return { path, sha256: createHash('sha256').update(text).digest('hex') }
}
