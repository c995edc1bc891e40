// Looks whether the operator's database lets us in, before anything begins that would need it.
import { CannotStart } from '../base/cannot-start.ts'
import { connect } from './sql.ts'

/** Longer than the driver waits for one connection. */
const PATIENCE_MS = 6_000

/** The driver tries a server again that hangs up on it, as a proxy does before its own server is there: `onWait` tells. */
export async function assertReachable(url: string, onWait: () => void): Promise<void> {
  try {
    const client = connect(url, { max: 1 })
    const waiting = setTimeout(onWait, PATIENCE_MS)
    try {
      await client`select 1`
    } finally {
      clearTimeout(waiting)
      await client.end({ timeout: 5 })
    }
  } catch (cause) {
    throw new CannotStart(`DATABASE_URL names a database that ${reasonOf(cause)}`, { cause })
  }
}

/** The server's words and the driver's name the user and the place, never the password. */
function reasonOf(error: unknown): string {
  const { message, code, severity } = error as { message: string; code?: string; severity?: string }
  // Only a server's own errors have a severity.
  if (severity !== undefined) return `refuses us: ${message} (${code})`
  // A name with several addresses has as many errors, and no words for all of them.
  const words = error instanceof AggregateError ? error.errors.map(({ message }: Error) => message).join(', ') : message
  return `cannot be reached: start it there or correct the address (${words})`
}
