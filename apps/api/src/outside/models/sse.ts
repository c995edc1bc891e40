// Reads server-sent events from bytes as they arrive and gives the data of each event.

const NEWLINE = 0x0a
const RETURN = 0x0d
const DATA = [...Buffer.from('data:')]
const SPACE = 0x20

/** Lines are cut on bytes and decoded whole, so a character split over two chunks is never damaged. */
export class SseParser {
  #pending: Buffer[] = []
  #data: string | undefined

  push(chunk: Buffer): string[] {
    const events: string[] = []
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      if (this.#pending.length > 0) {
        this.#pending.push(chunk.subarray(start, end))
        const whole = Buffer.concat(this.#pending)
        this.#pending = []
        this.#line(whole, 0, whole.length, events)
      } else {
        this.#line(chunk, start, end, events)
      }
      start = end + 1
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start))
    return events
  }

  /** What is left when the stream ends: some servers leave out the last empty line. */
  end(): string[] {
    const events = this.push(Buffer.of(NEWLINE))
    return events.length > 0 ? events : this.push(Buffer.of(NEWLINE))
  }

  #line(bytes: Buffer, start: number, lineEnd: number, events: string[]): void {
    const end = lineEnd > start && bytes[lineEnd - 1] === RETURN ? lineEnd - 1 : lineEnd
    if (end === start) {
      if (this.#data !== undefined) events.push(this.#data)
      this.#data = undefined
      return
    }
    if (DATA.some((byte, at) => bytes[start + at] !== byte)) return
    const from = start + DATA.length
    const text = bytes.toString('utf8', bytes[from] === SPACE ? from + 1 : from, end)
    this.#data = this.#data === undefined ? text : `${this.#data}\n${text}`
  }
}
