// The service as it is started: one process that serves, or a parent that keeps several of them.
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Logger, pino } from 'pino'
import { CannotStart } from './base/cannot-start.ts'
import { type Config, readConfig } from './config.ts'
import type { DevelopmentIssuer } from './development/settings.ts'
import { developmentProviderFor, withDevelopmentProvider } from './development-provider.ts'
import { assertFree, cannotListen } from './processes/free-address.ts'
import { alone, SERVING, type Siblings, siblingsByParent } from './processes/siblings.ts'

/** What a parent gives to its children, besides the environment it has itself. */
interface Birth {
  readonly number: number
  readonly count: number
  readonly development: DevelopmentIssuer | undefined
}

const BIRTH = 'AMPHI_CHILD'
const SHUTDOWN_MS_MAX = 30_000

// Loading is most of a start; from the second one on it comes from a cache.
enableCompileCache()

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const birth = process.env[BIRTH] === undefined ? undefined : (JSON.parse(process.env[BIRTH]) as Birth)
  const base = birth ? { process: birth.number } : null
  const log = pino({ level: config.logLevel, base, timestamp: pino.stdTimeFunctions.isoTime })
  // A connection that breaks is dealt with where it is used; one that nobody awaits must not take the process down.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'an error nobody waited for'))

  if (birth) return serveAsChild(config, birth, log)
  await assertPlace(config, log)
  const development = await developmentProviderFor(config)
  const stopProvider = async () => development?.close()
  if (config.processes > 1) await keepSeveral(config, development?.provider, log, stopProvider)
  else stopOnSignal(log, [await serve(development?.config ?? config, log, alone), stopProvider])
  log.info({ url: config.baseUrl, docs: `${config.baseUrl}/docs`, processes: config.processes }, 'Amphi is ready')
  if (development) {
    const { issuer } = development.provider
    log.info({ url: issuer }, 'a development identity provider stands in: sign in as ana, bob or carol')
    await development.warmUp()
  }
}

/** What others may have taken or not yet started is looked at first, so that a fault is told before anything runs. */
async function assertPlace({ host, port, database }: Config, log: Logger): Promise<void> {
  await assertFree(host, port)
  if (database.url === undefined) return
  const { assertReachable } = await import('./storage/assert-reachable.ts')
  await assertReachable(database.url, () => log.warn('what DATABASE_URL names hangs up each time and is tried on'))
}

async function serve(config: Config, log: Logger, siblings: Siblings): Promise<() => Promise<void>> {
  const { buildApp } = await import('./app.ts')
  const { startServices } = await import('./services.ts')
  const running = await startServices(config, log, { siblings })
  const app = await buildApp(config, log, running)
  const address = { host: config.host, port: config.port, reusePort: siblings.count > 1 }
  await app.listen(address).catch((error) => {
    throw cannotListen(error, config.host, config.port)
  })
  siblings.tell(SERVING, undefined)
  return async () => {
    await app.close()
    await running.close()
  }
}

async function serveAsChild(config: Config, { number, count, development }: Birth, log: Logger): Promise<void> {
  // Background work is bounded for the machine, so one of the processes does it.
  const role = number > 1 ? 'api' : config.role
  const own = { ...(development ? await withDevelopmentProvider(config, development) : config), role }
  const stop = stopOnSignal(log, [await serve(own, log, siblingsByParent(number, count))])
  process.on('disconnect', () => stop('disconnect'))
  // The parent may have gone before this process was ready.
  if (!process.connected) await stop('disconnect')
}

async function keepSeveral(
  config: Config,
  development: Birth['development'],
  log: Logger,
  stopProvider: () => Promise<void>,
): Promise<void> {
  const { startChildren } = await import('./processes/parent.ts')
  const { openEmbeddedDatabase } = await import('./embedded-database.ts')
  const database = config.database.url === undefined ? await openEmbeddedDatabase(config, log) : undefined
  const stopDatabase = async () => database?.stop()
  const count = config.processes
  const children = startChildren({
    count,
    program: fileURLToPath(import.meta.url),
    environmentOf(number) {
      const birth: Birth = { number, count, development }
      return { ...process.env, ...(database && { DATABASE_URL: database.url }), [BIRTH]: JSON.stringify(birth) }
    },
    log,
  })
  // The first of them serves before the last is ready.
  stopOnSignal(log, [children.stop, stopDatabase, stopProvider])
  try {
    await children.ready
  } catch (error) {
    await stopDatabase()
    throw error
  }
}

/** What was accepted is finished first. */
function stopOnSignal(log: Logger, steps: readonly (() => Promise<void>)[]): (signal: string) => Promise<void> {
  let isStopping = false
  const stop = async (signal: string) => {
    if (isStopping) return
    isStopping = true
    log.info({ signal }, 'finishing what was accepted')
    setTimeout(() => process.exit(1), SHUTDOWN_MS_MAX).unref()
    for (const step of steps) await step()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return stop
}

main().catch((error) => {
  console.error(error instanceof CannotStart ? error.message : error)
  process.exit(1)
})
