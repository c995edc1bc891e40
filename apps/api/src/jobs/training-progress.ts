// Gathers what a running training tells and writes it down a few times a second, its checkpoints' files first.
import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CheckpointStore } from '../outside/checkpoint-store/checkpoint-store.ts'
import type { NewCheckpoint } from '../resources/checkpoints/stored-checkpoints-store.ts'
import type { Progress } from '../resources/trainings/progress-store.ts'
import type { Checkpoint } from '../training/job.ts'
import type { Round } from '../training/round.ts'

export interface ProgressOptions {
  readonly store: CheckpointStore
  /** In the checkpoint store. */
  readonly folder: string
  /** False when the training is no longer ours to write about. */
  save(batch: Progress): Promise<boolean>
}

const WRITE_EVERY_MS = 400
const CHECKPOINTS_AT_ONCE = 16

export class TrainingProgress {
  readonly #options: ProgressOptions
  readonly #failed = new AbortController()
  readonly #rounds: Round[] = []
  readonly #checkpoints: Checkpoint[] = []
  #hasEncoding = false
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: ProgressOptions) {
    this.#options = options
  }

  /** Aborted when something could not be written, with the reason. */
  get failed(): AbortSignal {
    return this.#failed.signal
  }

  addRound(round: Round): void {
    this.#rounds.push(round)
    this.#writeSoon()
  }

  addCheckpoint(checkpoint: Checkpoint): void {
    this.#checkpoints.push(checkpoint)
    this.#writeSoon()
  }

  /** Writes what is left, unless nobody wants it, and fails with what could not be written. */
  async finish(isUnwanted: boolean): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#writing
    while (!isUnwanted && !this.failed.aborted && this.#isBehind) await this.#write()
    this.failed.throwIfAborted()
  }

  get #isBehind(): boolean {
    return this.#rounds.length > 0 || this.#checkpoints.length > 0
  }

  #writeSoon(): void {
    if (this.#timer || this.failed.aborted) return
    this.#timer = setTimeout(() => {
      this.#writing = this.#write().then(() => {
        this.#timer = undefined
        if (this.#isBehind) this.#writeSoon()
      })
    }, WRITE_EVERY_MS)
  }

  async #write(): Promise<void> {
    try {
      // Taken first: a round is told before its checkpoint, and must not be seen after it.
      const checkpoints = this.#checkpoints.splice(0, CHECKPOINTS_AT_ONCE)
      const rounds = this.#rounds.splice(0)
      const stored: NewCheckpoint[] = []
      const fault = await this.#storeAll(checkpoints, stored)
      const isOurs = await this.#options.save({ rounds, checkpoints: stored })
      if (fault) throw fault
      if (isOurs) return
      this.#failed.abort(new DOMException('The training was ended or taken over while it ran', 'AbortError'))
    } catch (error) {
      this.#failed.abort(error)
    }
  }

  /** What was stored before one could not be is kept all the same. */
  async #storeAll(checkpoints: readonly Checkpoint[], stored: NewCheckpoint[]): Promise<Error | undefined> {
    try {
      for (const checkpoint of checkpoints) stored.push(await this.#store(checkpoint))
      return undefined
    } catch (error) {
      return error as Error
    }
  }

  async #store({ path, encodingPath, step, sha256, encodingSha256 }: Checkpoint): Promise<NewCheckpoint> {
    const { store, folder } = this.#options
    const [model_key, encoding_key] = [path, encodingPath].map((local) => `${folder}/${basename(local)}`)
    if (!this.#hasEncoding) await store.put(encoding_key!, encodingPath)
    this.#hasEncoding = true
    await store.put(model_key!, path)
    await rm(path, { force: true })
    return { step, sha256, model_key: model_key!, encoding_key: encoding_key!, encoding_sha256: encodingSha256 }
  }
}
