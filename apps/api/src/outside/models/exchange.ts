// One HTTP exchange with a model server, read straight from the dispatcher: a stream in between would cost more than the rest.
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { Problem } from '../../base/problem.ts'
import type { Deadline } from './deadline.ts'

/** What may lie unread before the server is asked to wait. */
const UNREAD_BYTES_MAX = 128 * 1024
const BYTES_MAX = 64 * 1024 * 1024
const DRAIN_MS = 2_000

type Chunk = Buffer | undefined

interface Waiting<T> {
  resolve(value: T): void
  reject(error: unknown): void
}

export class Exchange implements Dispatcher.DispatchHandler {
  readonly #deadline: Deadline
  readonly #opening: Waiting<Exchange>
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #controller: Dispatcher.DispatchController | undefined
  #unread: Buffer[] = []
  #unreadBytes = 0
  #readBytes = 0
  #end: { readonly error?: unknown } | undefined
  #asked: Waiting<Chunk> | undefined

  /** Resolves with the first byte of the answer, or with its end when there is none. */
  static open(dispatcher: Dispatcher, options: Dispatcher.DispatchOptions, deadline: Deadline): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      dispatcher.dispatch(options, new Exchange(deadline, { resolve, reject }))
    })
  }

  private constructor(deadline: Deadline, opening: Waiting<Exchange>) {
    this.#deadline = deadline
    this.#opening = opening
    deadline.whenOver((reason) => this.#abort(reason))
  }

  get status(): number {
    return this.#status
  }

  get headers(): IncomingHttpHeaders {
    return this.#headers
  }

  get isEmpty(): boolean {
    return this.#isRead && this.#readBytes === 0
  }

  /** Told by its type, or by its first bytes where the type is wrong. To be asked before anything is read. */
  get isEventStream(): boolean {
    return (
      String(this.#headers['content-type']).includes('event-stream') ||
      this.#unread[0]?.toString('latin1', 0, 5) === 'data:'
    )
  }

  get #isRead(): boolean {
    return this.#end !== undefined && this.#unread.length === 0
  }

  /** The next piece, or undefined at the end; at once where it is there already. */
  next(): Chunk | Promise<Chunk> {
    const chunk = this.#unread.shift()
    if (chunk) {
      this.#unreadBytes -= chunk.length
      if (this.#controller?.paused && this.#unreadBytes <= UNREAD_BYTES_MAX / 2) this.#controller.resume()
      return this.#counted(chunk)
    }
    if (!this.#end) {
      return new Promise<Chunk>((resolve, reject) => {
        this.#asked = { resolve, reject }
      }).then((piece) => piece && this.#counted(piece))
    }
    if ('error' in this.#end) throw this.#end.error
    return undefined
  }

  async text(): Promise<string> {
    const chunks: Buffer[] = []
    for (let chunk = await this.next(); chunk; chunk = await this.next()) chunks.push(chunk)
    return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8')
  }

  /** As much of the answer as fits; the rest is not wanted. */
  async textUpTo(bytesMax: number): Promise<string> {
    const chunks: Buffer[] = []
    while (this.#readBytes < bytesMax) {
      const chunk = await this.next()
      if (!chunk) break
      chunks.push(chunk)
    }
    this.#drop('The rest of the answer is not wanted')
    return Buffer.concat(chunks).toString('utf8', 0, bytesMax)
  }

  /**
   * Called once nothing more is wanted, and ends the deadline. After a whole answer the little that may follow is read away,
   * so that the connection serves the next call; in any other case the connection is dropped, which frees the server.
   */
  release(isWhole: boolean): void {
    if (isWhole && !this.#isRead) {
      void this.#drain()
      return
    }
    this.#deadline.close()
    this.#drop('The answer is no longer wanted')
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // It may have waited for a connection for longer than anybody waited for it.
    if (this.#end) controller.abort(this.#end.error as Error)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#asked) {
      const { resolve } = this.#asked
      this.#asked = undefined
      resolve(chunk)
      return
    }
    this.#unread.push(chunk)
    this.#unreadBytes += chunk.length
    if (this.#unreadBytes > UNREAD_BYTES_MAX) controller.pause()
    this.#opening.resolve(this)
  }

  onResponseEnd(): void {
    this.#finish({})
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish({ error })
  }

  #counted(chunk: Buffer): Buffer {
    this.#readBytes += chunk.length
    if (this.#readBytes > BYTES_MAX)
      throw new Problem('upstream_invalid', 'The answer of the model server is too large')
    return chunk
  }

  async #drain(): Promise<void> {
    this.#deadline.stage(DRAIN_MS, 'end')
    try {
      while (await this.next());
    } catch {
      // The answer was whole; how the connection ends concerns nobody.
    } finally {
      this.#deadline.close()
    }
  }

  /** What has come whole needs no dropping: its connection already serves somebody else. */
  #drop(why: string): void {
    if (!this.#end) this.#abort(new Error(why))
  }

  #abort(reason: Error): void {
    if (this.#end) return
    this.#controller?.abort(reason)
    this.#finish({ error: reason })
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end) return
    this.#end = end
    const asked = this.#asked
    this.#asked = undefined
    if ('error' in end) {
      // Whoever waits for the answer to begin hears it here; once it has begun this does nothing.
      this.#opening.reject(end.error)
      asked?.reject(end.error)
    } else {
      this.#opening.resolve(this)
      asked?.resolve(undefined)
    }
  }
}
