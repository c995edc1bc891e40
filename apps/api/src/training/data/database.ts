// A DuckDB engine of its own for one piece of work, held to given threads and memory.
import { type DuckDBConnection, type DuckDBDataChunk, DuckDBInstance } from '@duckdb/node-api'

export interface DataLimits {
  threads: number
  memoryBytes: number
  /** What does not fit in memory is set down here while a query runs. */
  scratchFolder: string
}

export class Database {
  readonly #instance: DuckDBInstance
  readonly #connection: DuckDBConnection

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#instance = instance
    this.#connection = connection
  }

  static async open({ threads, memoryBytes, scratchFolder }: DataLimits): Promise<Database> {
    const instance = await DuckDBInstance.create(':memory:', {
      threads: String(threads),
      memory_limit: `${Math.floor(memoryBytes / 1024)}KiB`,
      temp_directory: scratchFolder,
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    })
    return new Database(instance, await instance.connect())
  }

  async rows(sql: string): Promise<unknown[][]> {
    return (await this.#connection.runAndReadAll(sql)).getRows()
  }

  async *chunks(sql: string): AsyncGenerator<DuckDBDataChunk> {
    const result = await this.#connection.stream(sql)
    for (;;) {
      const chunk = await result.fetchChunk()
      if (!chunk || chunk.rowCount === 0) return
      yield chunk
    }
  }

  close(): void {
    this.#connection.closeSync()
    this.#instance.closeSync()
  }
}

export const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`
