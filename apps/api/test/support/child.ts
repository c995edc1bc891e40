// The service as a process of its own, for tests that stop and kill it. Says its port and an administrator's token.
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { newId } from '../../src/base/ids.ts'
import { readConfig } from '../../src/config.ts'
import { startServices } from '../../src/services.ts'

const config = readConfig(process.env)
const log = pino({ level: process.env['TEST_LOG'] ?? 'silent' }, pino.destination(2))
process.on('unhandledRejection', (error) => log.error(error))
const running = await startServices(config, log, { access: { barrier: !process.argv.includes('--no-barrier') } })
const app = await buildApp(config, log, running)
await app.listen({ host: '127.0.0.1', port: 0 })

const { replica, tokens } = running.services
const tenantId = config.tenants[0]!.tenantId
const hashPerm = [...replica.snapshot.seatsOf(tenantId)].flatMap((seat) =>
  [...seat.spaces].map((space) => `${space}:${seat.name}`),
)
const { access_token: token } = await tokens.issue({ tenantId, userId: 'ana', loginId: newId(), hashPerm })
const { port } = app.server.address() as { port: number }
process.stdout.write(`${JSON.stringify({ port, token, space: hashPerm[0]!.split(':')[0] })}\n`)

process.on('SIGTERM', async () => {
  await app.close()
  await running.close()
  process.exit(0)
})
