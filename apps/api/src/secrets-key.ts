// The key that seals secrets at rest: the operator's, or outside production one made here and kept in the data folder.
import { randomBytes } from 'node:crypto'
import { link, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDataFolder } from './base/data-folder.ts'
import { Secret } from './base/secret.ts'

export async function findOrMakeSecretsKey(dataDir: string): Promise<Secret> {
  makeDataFolder(dataDir)
  const file = join(dataDir, 'secrets-key')
  const draft = `${file}.${process.pid}`
  await writeFile(draft, randomBytes(32).toString('base64url'), { mode: 0o600 })
  try {
    // A link either appears whole or not at all, and never replaces the key of a process that was quicker.
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(draft)
  }
  return new Secret((await readFile(file, 'utf8')).trim())
}
