// Numbers for Prometheus: requests by operation and outcome, and the process itself. No label names a tenant or a person.
import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Replica } from '../access/replica.ts'
import type { Siblings } from '../processes/siblings.ts'
import { gatherMetrics } from './gathered-metrics.ts'

export function serveMetrics(app: FastifyInstance, replica: Replica, siblings: Siblings) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'amphi_http_request_duration_seconds',
    help: 'Time from the request’s arrival to the end of its answer',
    labelNames: ['operation', 'status'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60],
    registers: [registry],
  })
  const denials = new Counter({
    name: 'amphi_access_denials_total',
    help: 'Requests refused for want of a permission',
    registers: [registry],
  })
  new Gauge({
    name: 'amphi_access_epoch',
    help: 'The change of access that this process decides from',
    registers: [registry],
    collect() {
      this.set(replica.snapshot.epoch)
    },
  })
  new Gauge({
    name: 'amphi_access_lease_current',
    help: '1 while this process may decide from memory',
    registers: [registry],
    collect() {
      this.set(replica.isCurrent ? 1 : 0)
    },
  })

  // Looking a labelled child up costs more than observing it, and there are few of them: by operation, then by class of status.
  const children = new Map<string, { observe(seconds: number): void }[]>()
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.operation ?? 'other'
    const statusClass = Math.floor(reply.statusCode / 100)
    let byClass = children.get(operation)
    if (!byClass) {
      byClass = []
      children.set(operation, byClass)
    }
    byClass[statusClass] ??= durations.labels(operation, `${statusClass}xx`)
    byClass[statusClass].observe(reply.elapsedTime / 1000)
    done()
  })

  const gathered = gatherMetrics(registry, siblings)
  app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await gathered()))
  return { countDenial: () => denials.inc() }
}
