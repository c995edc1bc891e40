// Requests that would outlast the service: told why they end, while there is still time to keep what they came to.
import type { FastifyInstance } from 'fastify'
import { Problem } from '../base/problem.ts'
import type { RequestContext } from './request-context.ts'

/** For what was accepted before the service was told to stop; it ends itself after half as long again. */
const FINISHING_MS_MAX = 20_000

export function cutWhenClosing(app: FastifyInstance, open: ReadonlySet<RequestContext>): void {
  app.addHook('preClose', async () => {
    const reason = new Problem('shutting_down', 'The service is restarting: try again', { retryAfterSeconds: 1 })
    const cutAll = () => {
      for (const context of open) context.cut(reason)
    }
    setTimeout(cutAll, FINISHING_MS_MAX).unref()
  })
}
