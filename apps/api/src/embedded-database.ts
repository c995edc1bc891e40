// The Postgres of a service that is given none, started and stopped with it.
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { startPostgres } from './storage/embedded-postgres.ts'

/** What a process uses besides those for requests: background work, notices, records, and some for an operator to look. */
const CONNECTIONS_BESIDES = 12
const CONNECTIONS_MIN = 100

export async function openEmbeddedDatabase({ dataDir, database, processes }: Config, log: Logger) {
  const postgres = await startPostgres({
    dataDir,
    log: (line) => log[/(WARNING|ERROR|FATAL|PANIC):/.test(line) ? 'warn' : 'debug']({ from: 'postgres' }, line),
    settings: {
      max_connections: Math.max(CONNECTIONS_MIN, processes * (database.connections + CONNECTIONS_BESIDES)),
    },
  })
  let isStopping = false
  // Its next server would have another address, so everything starts anew: whoever watches this process starts it again.
  void postgres.ended.then(() => {
    if (isStopping) return
    log.fatal('the embedded Postgres has ended; the next start recovers what it held')
    process.exit(1)
  })
  return {
    url: postgres.url,
    stop: () => {
      isStopping = true
      return postgres.stop()
    },
  }
}
