// Services → HTTP app. The same app serves in production and in every API test.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import { newId } from './base/ids.ts'
import { catalogue } from './catalogue.ts'
import type { Config } from './config.ts'
import { allowFrontends } from './http/cors.ts'
import { serveDocs } from './http/docs.ts'
import { Door } from './http/door.ts'
import { answerErrors, rawProblem, sendProblem, toProblem } from './http/errors.ts'
import { serveHealth } from './http/health.ts'
import { readJsonBodies } from './http/json-body.ts'
import { serveMetrics } from './http/metrics.ts'
import { mount } from './http/mount.ts'
import { openapi } from './http/openapi.ts'
import { servePage } from './http/page/serve-page.ts'
import { RateLimit } from './http/rate-limit.ts'
import { writeBySchema } from './http/serialization.ts'
import { shareRateLimit } from './http/shared-rate-limit.ts'
import type { Process } from './services.ts'
import { VERSION } from './version.ts'

const HEADER_BYTES_MAX = 64 * 1024
/** For all of a request to arrive; a large upload over a slow line takes minutes. */
const REQUEST_MS_MAX = 600_000
const REQUEST_ID = /^[\w.:-]{1,128}$/

export async function buildApp(
  config: Config,
  log: Logger,
  { services, system, keys, keyUses, denials, siblings }: Process,
): Promise<FastifyInstance> {
  const server = { maxHeaderSize: HEADER_BYTES_MAX, requestTimeout: REQUEST_MS_MAX }
  const tls = config.tls && {
    https: { ...server, cert: readFileSync(config.tls.certFile), key: readFileSync(config.tls.keyFile) },
  }
  const app = Fastify({
    ...(tls ?? { http: server }),
    loggerInstance: shared(log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: config.limits.bodyBytes,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
    },
    frameworkErrors: (error, request, reply) => sendProblem(request, reply, toProblem(error)),
    clientErrorHandler(error, socket) {
      const { status, body } = rawProblem((error as NodeJS.ErrnoException).code, randomUUID())
      const head = `HTTP/1.1 ${status} Error\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n`
      if (socket.writable) socket.end(head + body)
    },
  }) as unknown as FastifyInstance

  let closing: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    services.news.close()
    // A connection that was busy when closing began would otherwise be kept alive for another minute.
    closing = setInterval(() => app.server.closeIdleConnections(), 100)
  })
  app.addHook('onClose', async () => clearInterval(closing))
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  if (log.isLevelEnabled('debug')) logAnswers(app)
  allowFrontends(
    app,
    config.tenants.flatMap(({ frontendUrl }) => frontendUrl ?? []),
  )
  answerErrors(app)
  readJsonBodies(app)
  writeBySchema(app)
  const metrics = serveMetrics(app, services.replica, siblings)
  serveHealth(app, services.replica, system, () => closing !== undefined)
  serveDocs(app, openapi(catalogue, VERSION))
  servePage(
    app,
    config.tenants.filter(({ oidc }) => oidc).map(({ tenantId }) => tenantId),
  )
  app.get('/.well-known/jwks.json', async () => keys.published)

  const perUser = new RateLimit('from you', config.limits.userPerSecond)
  const perTenant = new RateLimit('from your tenant', config.limits.tenantPerSecond)
  shareRateLimit('rate limit of users', perUser, siblings)
  shareRateLimit('rate limit of tenants', perTenant, siblings)
  const door = new Door({
    tenants: new Set(config.tenants.map(({ tenantId }) => tenantId)),
    replica: services.replica,
    tokens: services.tokens,
    keyUses,
    perUser,
    perTenant,
    onDenial: (caller, operation, problem, requestId) => {
      metrics.countDenial()
      denials.add(caller, operation.id, operation.resource, problem, requestId)
    },
  })
  mount(app, catalogue, services, door, config.limits.uploadBytes)
  return app
}

/** A logger made for each request would cost more than what is logged: lines about a request name it themselves. */
function shared(log: Logger): Logger {
  const own: Logger = Object.create(log, { child: { value: () => own } })
  return own
}

function logAnswers(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    // The path without its query: what people search for does not belong into a log.
    const [path] = request.url.split('?', 1)
    const { id, method } = request
    request.log.debug(
      { reqId: id, method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'answered',
    )
    done()
  })
}
