// A second process of a service, as far as access is concerned: its own memory on the same database.
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { startServices } from '../../src/services.ts'
import type { Service } from './service.ts'

export interface TestReplica {
  readonly app: FastifyInstance
  close(): Promise<void>
}

export async function startReplica({ config }: Service): Promise<TestReplica> {
  const log = pino({ level: 'silent' })
  const running = await startServices(config, log)
  const app = await buildApp(config, log, running)
  await app.ready()
  return {
    app,
    async close() {
      await app.close()
      await running.close()
    },
  }
}
