// Checkpoints in a folder of this machine, or of a disk that machines share.
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Problem } from '../../base/problem.ts'
import type { CheckpointStore } from './checkpoint-store.ts'

export function openFolderStore(root: string): CheckpointStore {
  return {
    async put(key, fromPath) {
      const path = join(root, key)
      const unfinished = `${path}.${process.pid}.unfinished`
      await mkdir(dirname(path), { recursive: true })
      try {
        await copyFile(fromPath, unfinished)
        await sync(unfinished)
        await rename(unfinished, path)
        await sync(dirname(path))
      } catch (error) {
        await rm(unfinished, { force: true })
        throw error
      }
    },
    async fetch(key, toPath) {
      await copyFile(join(root, key), toPath).catch((error) => {
        if (error.code !== 'ENOENT') throw error
        throw new Problem('not_found', 'The file of the checkpoint is not in the checkpoint store', { cause: error })
      })
    },
    removeAll: (folder) => rm(join(root, folder), { recursive: true, force: true }),
    close() {},
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
