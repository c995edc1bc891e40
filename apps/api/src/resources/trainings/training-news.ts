// Hears of every step of every training, on whichever machine it happens, and wakes those who wait for one.
import type { Client } from '../../storage/sql.ts'

export class TrainingNews {
  readonly #waiting = new Map<string, Set<() => void>>()
  #closed = false

  async start(system: Client): Promise<void> {
    await system.listen('amphi_trainings', (id) => {
      for (const wake of this.#waiting.get(id) ?? []) wake()
    })
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** True at the next news of the training; false when a while has passed or nobody wants to know any more. */
  next(id: string, withinMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#closed || signal?.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(id) ?? new Set()
      const end = (heard: boolean) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', leave)
        waiting.delete(wake)
        if (waiting.size === 0) this.#waiting.delete(id)
        resolve(heard)
      }
      const wake = () => end(!this.#closed)
      const leave = () => end(false)
      const timer = setTimeout(leave, withinMs)
      signal?.addEventListener('abort', leave)
      this.#waiting.set(id, waiting.add(wake))
    })
  }

  /** Sends everyone home, so that nobody holds a connection open. */
  close(): void {
    this.#closed = true
    for (const waiting of [...this.#waiting.values()]) for (const wake of [...waiting]) wake()
  }
}
