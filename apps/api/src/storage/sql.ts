// One way to talk to Postgres. Rows match the wire: timestamps are RFC 3339 text, SQL null is an absent field.
import postgres from 'postgres'

/** What statements are written with, inside a transaction or outside of one. */
export type Sql = postgres.ISql<Record<string, never>>
export type Client = postgres.Sql<Record<string, never>>

/** The role that statements run under: `amphi_app` is fenced to one tenant, `amphi_system` sees all of them. */
export type Role = 'amphi_app' | 'amphi_system'

export interface ClientOptions {
  readonly max: number
  readonly role?: Role
  readonly statementTimeoutMs?: number
  /** Plans each statement once, for all values; for statements whose best plan does not depend on them. */
  readonly genericPlans?: boolean
  readonly onclose?: () => void
}

const TIMESTAMPTZ = 1184
const DATE = 1082
const BIGINT = 20

export function connect(url: string, options: ClientOptions): Client {
  return postgres(url, {
    max: options.max,
    connect_timeout: 5,
    // A lane's tenant is a setting of its session, so sessions are not recycled behind our back.
    max_lifetime: null,
    backoff: () => 0.2,
    onnotice: () => {},
    ...(options.onclose && { onclose: options.onclose }),
    connection: {
      application_name: 'amphi',
      TimeZone: 'UTC',
      // Statements are short and many: compiling one takes a hundred times as long as running it.
      jit: 'off',
      ...(options.role && { role: options.role }),
      ...(options.genericPlans && { plan_cache_mode: 'force_generic_plan' }),
      statement_timeout: options.statementTimeoutMs ?? 30_000,
      idle_in_transaction_session_timeout: 60_000,
    },
    types: {
      timestamp: {
        to: TIMESTAMPTZ,
        from: [TIMESTAMPTZ],
        serialize: (value: string | Date) => (value instanceof Date ? value.toISOString() : value),
        // In the form of ISO 8601: of any other, years below 100 are taken for those of our time.
        parse: (text: string) => new Date(text.replace(' ', 'T').replace('+00', 'Z')).toISOString(),
      },
      // A day has no time zone, so it stays the text it is.
      date: { to: DATE, from: [DATE], serialize: String, parse: String },
      // Counts and epochs stay far below 2^53.
      bigint: { to: BIGINT, from: [BIGINT], serialize: String, parse: Number },
    },
    transform: { undefined: null, value: { from: (value: unknown) => value ?? undefined } },
  }) as unknown as Client
}

export async function isReachable(client: Client): Promise<boolean> {
  return client`select 1`.then(
    () => true,
    () => false,
  )
}

/**
 * Runs a statement whose values are large. The driver leaves finished statements reachable from later ones until a full
 * collection; with their values, that would be all of a bulk upload.
 */
export async function runLarge<T extends object>(statement: PromiseLike<T>): Promise<T> {
  try {
    return await statement
  } finally {
    Object.assign(statement, { args: [], parameters: [] })
  }
}

/** True where it is what was given that cannot be stored; anything else may work when it is tried again. */
export function isFaultOfData(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  // Values out of range or malformed, constraints, limits of size; without a code it is no failure of the database at all.
  return typeof code !== 'string' || /^(22|23|54)...$/.test(code)
}

/** True for failures of the connection or the server, as opposed to failures of a statement. */
export function isConnectionFailure(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  if (typeof code !== 'string') return false
  return (
    /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code) ||
    // Shutdown, crash recovery, too many connections; and a lane that lost its session between two statements.
    /^(57P0[1-5]|08...|53300|42704)$/.test(code)
  )
}
