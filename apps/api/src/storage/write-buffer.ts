// Writes many small records in few statements: gathered while one statement runs, kept while the database is away, bounded.
import { Problem } from '../base/problem.ts'
import { isConnectionFailure, isFaultOfData, type Sql } from './sql.ts'

export interface WriteBufferOptions {
  readonly onError: (error: unknown) => void
  readonly entriesMax?: number
  readonly bytesMax?: number
  /** The least time between the beginnings of two statements; more records then share one. */
  readonly spacingMs?: number
  /** How long a record's owner waits for the database before going on without it. */
  readonly patienceMs?: number
}

/** Stores the texts of records. With `isRepeat` some may be stored already, and must not be stored again. */
export type Write = (texts: readonly string[], isRepeat: boolean) => Promise<void>

/** A kind of record: how it becomes a text, and how such texts are stored. */
export interface RecordKind {
  textOf(record: object): string
  insert(sql: Sql, texts: readonly string[], isRepeat: boolean): Promise<void>
}

interface Entry {
  readonly text: string
  readonly settle: () => void
}

const BATCH_MAX = 500
const RETRY_MS_MIN = 100
const RETRY_MS_MAX = 2_000
/** Tries that are made to store the last records while the process ends. */
const CLOSING_ATTEMPTS_MAX = 5

export class WriteBuffer {
  readonly #textOf: (record: object) => string
  readonly #write: Write
  readonly #options: Required<WriteBufferOptions>
  #waiting: Entry[] = []
  #writing: Entry[] = []
  #chars = 0
  #isAway = false
  #isClosing = false
  #running: Promise<void> | undefined
  #wake = () => {}

  constructor(textOf: (record: object) => string, write: Write, options: WriteBufferOptions) {
    this.#textOf = textOf
    this.#write = write
    this.#options = { entriesMax: 20_000, bytesMax: 64 * 1024 * 1024, patienceMs: 2_000, spacingMs: 0, ...options }
  }

  /** To be asked before the work whose record will come: what was answered must not be lost for want of room. */
  assertRoom(): void {
    const { entriesMax, bytesMax } = this.#options
    if (this.#waiting.length < entriesMax && this.#chars < bytesMax) return
    const message = 'The database has been away for so long that no more can be kept for it'
    throw new Problem('database_unavailable', message, { retryAfterSeconds: 5 })
  }

  /** Resolves when the record is stored, or when it turns out that the database is away and the record must follow later. */
  add(record: object): Promise<void> {
    const text = this.#textOf(record)
    this.#chars += text.length
    return new Promise((settle) => {
      this.#waiting.push({ text, settle })
      if (this.#isAway) settle()
      this.#running ??= this.#run()
    })
  }

  /** Resolves once all that was added is stored. */
  async flushed(): Promise<void> {
    while (this.#running) {
      this.#wake()
      await this.#running
    }
  }

  /** Stores what is there, for as long as one can wait for it; gives back what could not be stored. */
  async close(): Promise<string[]> {
    this.#isClosing = true
    this.#wake()
    await this.#running
    return [...this.#writing, ...this.#waiting].map(({ text }) => text)
  }

  async #run(): Promise<void> {
    // Whatever ends in this turn of the loop goes into the first statement.
    await new Promise((resolve) => setImmediate(resolve))
    try {
      while (this.#waiting.length > 0) {
        this.#writing = this.#waiting.splice(0, BATCH_MAX)
        const next = this.#options.spacingMs > 0 && this.#pause(this.#options.spacingMs)
        await this.#store(this.#writing)
        this.#writing = []
        if (next && this.#waiting.length < BATCH_MAX && !this.#isClosing) await next
      }
    } catch {
      // Thrown only when closing: whoever closes gets what is left.
    }
    this.#running = undefined
  }

  async #store(entries: readonly Entry[], isRepeat = false): Promise<void> {
    let closingAttempts = 0
    for (let attempt = 0; ; attempt++) {
      const impatient = setTimeout(() => this.#letGo(), this.#options.patienceMs)
      try {
        await this.#write(
          entries.map(({ text }) => text),
          isRepeat || attempt > 0,
        )
        this.#isAway = false
        return this.#done(entries)
      } catch (error) {
        if (isFaultOfData(error)) {
          if (attempt >= 2) return await this.#storeApart(entries, error)
        } else {
          // A full disk, a failover, a deadlock: the database is there and does not take it, which may pass.
          if (isConnectionFailure(error) || attempt >= 2) this.#away(error)
          if (this.#isClosing && ++closingAttempts >= CLOSING_ATTEMPTS_MAX) throw error
        }
        await this.#pause(Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** attempt))
      } finally {
        clearTimeout(impatient)
      }
    }
  }

  /** One record that the database will not take must not keep the others from it. */
  async #storeApart(entries: readonly Entry[], error: unknown): Promise<void> {
    if (entries.length === 1) {
      this.#options.onError(new Error('A record cannot be stored and is given up', { cause: error }))
      return this.#done(entries)
    }
    const half = Math.ceil(entries.length / 2)
    await this.#store(entries.slice(0, half), true)
    await this.#store(entries.slice(half), true)
  }

  #done(entries: readonly Entry[]): void {
    for (const { text, settle } of entries) {
      this.#chars -= text.length
      settle()
    }
  }

  #away(error: unknown): void {
    if (!this.#isAway) this.#options.onError(error)
    this.#letGo()
  }

  #letGo(): void {
    this.#isAway = true
    for (const { settle } of [...this.#writing, ...this.#waiting]) settle()
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** What model-backed calls leave behind. */
export interface CallRecords {
  readonly logs: WriteBuffer
  /** Chats that begin. */
  readonly chats: WriteBuffer
  /** Chats that go on. */
  readonly turns: WriteBuffer
}
