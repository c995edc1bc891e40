// The service as a process: configuration → services → app → listen; on a signal, what was accepted is finished first.
import { enableCompileCache } from 'node:module'
import { pino } from 'pino'
import { Misconfigured, readConfig } from './config.ts'
import { developmentProviderFor } from './development-provider.ts'

// Loading is most of a start; from the second one on it comes from a cache.
enableCompileCache()
const { buildApp } = await import('./app.ts')
const { startServices } = await import('./services.ts')

const SHUTDOWN_MS_MAX = 30_000

async function main(): Promise<void> {
  const configured = readConfig(process.env)
  const development = await developmentProviderFor(configured)
  const config = development?.config ?? configured
  const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime })
  // A connection that breaks is dealt with where it is used; one that nobody awaits must not take the process down.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'an error nobody waited for'))

  const running = await startServices(config, log)
  const app = await buildApp(config, log, running)
  await app.listen({ host: config.host, port: config.port })
  log.info({ url: config.baseUrl, docs: `${config.baseUrl}/docs` }, 'Amphi is ready')

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'finishing what was accepted')
    setTimeout(() => process.exit(1), SHUTDOWN_MS_MAX).unref()
    await app.close()
    await running.close()
    await development?.close()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)

  if (development) {
    log.info({ url: development.issuer }, 'a development identity provider stands in: sign in as ana, bob or carol')
    await development.warmUp()
  }
}

main().catch((error) => {
  console.error(error instanceof Misconfigured ? error.message : error)
  process.exit(1)
})
