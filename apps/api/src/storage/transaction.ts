// One transaction on a client with one connection, safe against the loss of that connection.
//
// The driver binds a transaction to a connection and does not mind when that one closes: statements that come later, its
// own rollback among them, are written to a socket that is gone, which throws where nobody can catch it. So after the loss
// no statement reaches the driver any more, and the driver is not told that the work failed: it knows, and has let go.
import type { Client, Sql } from './sql.ts'

/** `closures` counts how often the client's connection was closed; the driver itself fails what a closed one had begun. */
export async function transaction<T>(
  client: Client,
  closures: () => number,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const result = await client.begin(async (tx) => {
    const began = closures()
    const isOpen = () => closures() === began
    try {
      return await work(guarded(tx as unknown as Sql, isOpen))
    } catch (error) {
      if (isOpen() && !isLoss(error)) throw error
      return new Promise<never>(() => {})
    }
  })
  return result as T
}

const guarded = (tx: Sql, isOpen: () => boolean): Sql =>
  new Proxy(tx, {
    apply(target, self, args) {
      if (!isOpen()) throw connectionLost()
      return Reflect.apply(target as never, self, args)
    },
  })

const connectionLost = () =>
  Object.assign(new Error('The connection was lost in a transaction'), { code: 'CONNECTION_CLOSED' })

/** A server that is told to stop says so before it closes the connection. */
const isLoss = (error: unknown) =>
  /^(CONNECTION_|ECONN|EPIPE|57P0[1-3])/.test(String((error as { code?: unknown } | null)?.code))
