// Liveness: the process answers. Readiness: it can decide access and reach its database, and is not on its way out.
import type { FastifyInstance } from 'fastify'
import type { Replica } from '../access/replica.ts'
import { type Client, isReachable } from '../storage/sql.ts'

export function serveHealth(app: FastifyInstance, replica: Replica, system: Client, isClosing: () => boolean): void {
  app.get('/health/live', async () => ({ status: 'ok' }))
  app.get('/health/ready', async (_request, reply) => {
    const faults: string[] = []
    if (isClosing()) faults.push('shutting down')
    if (replica.snapshot.epoch < 0) faults.push('access is not loaded yet')
    if (!(await isReachable(system))) faults.push('the database cannot be reached')
    if (faults.length === 0) return { status: 'ok' }
    return reply.code(503).send({ status: 'unready', faults })
  })
}
