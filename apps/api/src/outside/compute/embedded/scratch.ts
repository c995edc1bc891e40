// Folders for the data of jobs while they run: gone when the job ends, and swept when the process had no time to.
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Several machines may share the folder, and each sweeps only after itself. */
const MARK = `job-${hostname().replaceAll(/[^A-Za-z0-9]/g, '_')}-`

export class Scratch {
  readonly #folder: string
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Removes what processes of this machine that are no more have left. */
  async sweep(): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    for (const name of await readdir(this.#folder)) {
      if (!name.startsWith(MARK)) continue
      const pid = Number(name.slice(MARK.length).split('-')[0])
      // This process has made none yet, so one of its number is from an earlier life.
      if (pid !== process.pid && isAlive(pid)) continue
      await rm(join(this.#folder, name), { recursive: true, force: true })
    }
  }

  async during<T>(work: (folder: string) => Promise<T>): Promise<T> {
    await mkdir(this.#folder, { recursive: true })
    const folder = await mkdtemp(join(this.#folder, `${MARK}${process.pid}-`))
    try {
      return await work(folder)
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
