// The body of a model server's answer: read chunk by chunk, bounded, and given back to the connection at the end.
import { Problem } from '../../base/problem.ts'
import type { Deadline } from './deadline.ts'

const BYTES_MAX = 64 * 1024 * 1024
const DRAIN_MS = 2_000

export class AnswerBody {
  readonly #chunks: AsyncIterator<Buffer>
  #first: Buffer | undefined
  #bytes = 0
  #isRead = false

  constructor(first: Buffer, rest: AsyncIterator<Buffer>) {
    this.#first = first
    this.#chunks = rest
  }

  /** The next chunk, or undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    const chunk = this.#first ?? (await this.#pull())
    this.#first = undefined
    this.#bytes += chunk?.length ?? 0
    if (this.#bytes > BYTES_MAX) throw new Problem('upstream_invalid', 'The answer of the model server is too large')
    return chunk
  }

  async text(): Promise<string> {
    const chunks: Buffer[] = []
    for (let chunk = await this.next(); chunk; chunk = await this.next()) chunks.push(chunk)
    return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8')
  }

  /**
   * Called once nothing more is wanted. After a whole answer the little that may follow is read away, so that the
   * connection serves the next call; in any other case the connection is dropped, which frees the server.
   */
  release(isWhole: boolean, deadline: Deadline): void {
    if (isWhole && !this.#isRead) {
      void this.#drain(deadline)
      return
    }
    deadline.close()
    if (!this.#isRead) deadline.abandon()
  }

  async #drain(deadline: Deadline): Promise<void> {
    deadline.stage(DRAIN_MS, 'end')
    try {
      while (await this.#pull());
    } catch {
      // The answer was whole; how the connection ends concerns nobody.
    } finally {
      deadline.close()
    }
  }

  async #pull(): Promise<Buffer | undefined> {
    const next = await this.#chunks.next()
    this.#isRead = next.done === true
    return next.done ? undefined : next.value
  }
}
