// One HTTP exchange with a model server, read straight from the dispatcher: a stream in between would cost more than the rest.
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Deadline } from './deadline.ts'

export interface Exchange {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly chunks: AsyncIterator<Buffer>
}

/** What may lie unread before the server is asked to wait. */
const UNREAD_BYTES_MAX = 128 * 1024

export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  deadline: Deadline,
): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(options, new Reader(deadline, resolve, reject))
  })
}

class Reader implements Dispatcher.DispatchHandler, AsyncIterator<Buffer> {
  readonly #begun: (exchange: Exchange) => void
  readonly #failed: (error: unknown) => void
  #controller: Dispatcher.DispatchController | undefined
  #unread: Buffer[] = []
  #unreadBytes = 0
  #end: { readonly error?: unknown } | undefined
  #asked: { resolve(next: IteratorResult<Buffer, undefined>): void; reject(error: unknown): void } | undefined

  constructor(deadline: Deadline, begun: (exchange: Exchange) => void, failed: (error: unknown) => void) {
    this.#begun = begun
    this.#failed = failed
    deadline.whenOver((reason) => {
      this.#controller?.abort(reason)
      this.#finish({ error: reason })
    })
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It may have waited for a connection for longer than anybody waited for it.
    if (this.#end) controller.abort(this.#end.error as Error)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.#begun({ status, headers, chunks: this })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#asked) {
      const { resolve } = this.#asked
      this.#asked = undefined
      resolve({ done: false, value: chunk })
      return
    }
    this.#unread.push(chunk)
    this.#unreadBytes += chunk.length
    if (this.#unreadBytes > UNREAD_BYTES_MAX) controller.pause()
  }

  onResponseEnd(): void {
    this.#finish({})
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish({ error })
  }

  next(): Promise<IteratorResult<Buffer, undefined>> {
    const value = this.#unread.shift()
    if (value) {
      this.#unreadBytes -= value.length
      if (this.#controller?.paused && this.#unreadBytes <= UNREAD_BYTES_MAX / 2) this.#controller.resume()
      return Promise.resolve({ done: false, value })
    }
    if (!this.#end) {
      return new Promise((resolve, reject) => {
        this.#asked = { resolve, reject }
      })
    }
    return 'error' in this.#end
      ? Promise.reject(this.#end.error)
      : Promise.resolve({ done: true as const, value: undefined })
  }

  async return(): Promise<IteratorResult<Buffer, undefined>> {
    this.#controller?.abort(new Error('The rest of the answer is not wanted'))
    return { done: true, value: undefined }
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end) return
    this.#end = end
    const asked = this.#asked
    this.#asked = undefined
    if ('error' in end) {
      // Whoever waits for the answer to begin hears it here; once it has begun this does nothing.
      this.#failed(end.error)
      asked?.reject(end.error)
    } else asked?.resolve({ done: true, value: undefined })
  }
}
