// Lets the tenants' own frontends, and nobody else's pages, call the API from a browser (contract 4.3).
import type { FastifyInstance } from 'fastify'

const HEADERS_READ = 'x-request-id, retry-after, deprecation, link, idempotent-replayed'
const HEADERS_SENT = 'authorization, content-type, idempotency-key, space, x-request-id'
const REMEMBER_SECONDS = 600

export function allowFrontends(app: FastifyInstance, frontendUrls: readonly string[]): void {
  const origins = new Set(frontendUrls.map((url) => new URL(url).origin))
  app.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (origin === undefined || !origins.has(origin)) return done()
    reply.headers({
      'access-control-allow-origin': origin,
      // The login sets a cookie that ties it to the browser.
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': HEADERS_READ,
      vary: 'origin',
    })
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return done()
    reply
      .code(204)
      .headers({
        'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
        'access-control-allow-headers': HEADERS_SENT,
        'access-control-max-age': String(REMEMBER_SECONDS),
      })
      .send()
  })
}
