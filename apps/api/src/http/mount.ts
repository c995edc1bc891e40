// Turns operations into routes. This file knows every operation and no resource.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findObjection } from '../access/standing.ts'
import { isId } from '../base/ids.ts'
import type { Services } from '../contract/context.ts'
import { EventStream, type Operation, Redirect, WithHeaders } from '../contract/operation.ts'
import { input } from '../contract/shapes.ts'
import { type Address, addressesOf } from './addresses.ts'
import { cutWhenClosing } from './cut-when-closing.ts'
import type { Door, Entry } from './door.ts'
import { sendEvents, type Watch } from './event-stream.ts'
import { filesOf, readFileBodies } from './file-body.ts'
import { keyOf, once } from './idempotency.ts'
import { assertStorable } from './json-body.ts'
import { contextMaker, type RequestContext } from './request-context.ts'
import { validator } from './validation.ts'

declare module 'fastify' {
  interface FastifyRequest {
    entry: Entry | undefined
    /** The id of the operation that answers. */
    operation: string | undefined
  }
  interface FastifyContextConfig {
    takesBody?: boolean
  }
}

interface Params {
  readonly spaceId?: string
  readonly id?: string
}

const NO_FILES: AsyncIterable<never> = { async *[Symbol.asyncIterator]() {} }

/** When the header form of the addresses was declared deprecated (RFC 9745). */
const DEPRECATED_SINCE = `@${Date.UTC(2026, 10, 1) / 1000}`

export function mount(
  app: FastifyInstance,
  operations: readonly Operation[],
  services: Services,
  door: Door,
  uploadBytesMax: number,
): void {
  app.decorateRequest('entry', undefined)
  app.decorateRequest('operation', undefined)
  const open = new Set<RequestContext>()
  cutWhenClosing(app, open)
  const mountAll = (scope: FastifyInstance, chosen: readonly Operation[]) => {
    for (const operation of chosen) {
      for (const address of addressesOf(operation)) mountAt(scope, operation, address, services, door, open)
    }
  }
  const takingFiles = operations.filter(({ takesFiles }) => takesFiles)
  mountAll(
    app,
    operations.filter(({ takesFiles }) => !takesFiles),
  )
  app.register(async (scope) => {
    await readFileBodies(scope, uploadBytesMax)
    mountAll(scope, takingFiles)
  })
}

function mountAt(
  app: FastifyInstance,
  operation: Operation,
  address: Address,
  services: Services,
  door: Door,
  open: Set<RequestContext>,
): void {
  const checkQuery = operation.query && validator(operation.query, 'query')
  const checkBody = operation.body ? validator(operation.body, 'body') : checkNoFields
  const isPublic = operation.scope === 'public'
  const contextOf = contextMaker(services, open)

  app.route({
    // An update may be sent as PATCH too: both change only what is given.
    method: operation.method === 'PUT' ? ['PUT', 'PATCH'] : operation.method,
    url: address.url,
    // What answers by doing something, or goes on and on, has no head without a body.
    ...(operation.method === 'GET' && !operation.result && { exposeHeadRoute: false }),
    config: { takesBody: operation.body !== undefined },
    ...(operation.result && { schema: { response: { [operation.status]: operation.result } } }),
    onRequest: (request, reply, done) => {
      request.operation = operation.id
      // Answers are for one caller, and some hold tokens.
      reply.header('cache-control', 'no-store')
      if (address.deprecated) markDeprecated(request, reply)
      if (isPublic) return done()
      try {
        const entry = door.enter(operation, {
          authorization: request.headers.authorization,
          spaceInPath: (request.params as Params).spaceId,
          spaceInHeader: headerOf(request, 'space'),
          requestId: request.id,
        })
        if (!(entry instanceof Promise)) {
          request.entry = entry
          return done()
        }
        entry.then((passed) => {
          request.entry = passed
          done()
        }, done)
      } catch (error) {
        done(error as Error)
      }
    },
    handler: async (request, reply) => {
      const input = {
        query: checkQuery && storable(checkQuery(request.query)),
        body: checkBody(request.body),
        id: idOf(operation, request.params as Params),
        files: operation.takesFiles ? filesOf(request) : NO_FILES,
      }
      const context = contextOf(request, reply)
      const run = () => operation.run(context as never, input)
      const answer = (value: unknown) => send(request, reply, operation, value, watchFor(services, operation, context))
      // Files are gone once they were read, so a repeat cannot be told from another request: it is read again.
      const repeatable = operation.method === 'POST' && !operation.takesFiles
      const { entry } = request
      if (!entry) return answer(await run())
      try {
        const key = repeatable ? keyOf(request.headers['idempotency-key']) : undefined
        if (key === undefined) return answer(await run())
        const outcome = await once(services, { key, operation, request, entry }, run)
        if (!('replayed' in outcome)) return answer(outcome.value)
        const { status, body } = outcome.replayed
        reply.header('idempotent-replayed', 'true')
        if (status === operation.status) return answer(body)
        return reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body)
      } catch (error) {
        door.note(operation, entry.caller, error, request.id)
        throw error
      }
    },
  })
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: Operation,
  value: unknown,
  watch: Watch,
): FastifyReply | Promise<void> {
  if (value instanceof WithHeaders) return send(request, reply.headers(value.headers), operation, value.value, watch)
  if (value instanceof Redirect)
    return reply
      .code(303)
      .headers({ ...value.headers, location: value.url })
      .send()
  if (value instanceof EventStream) return sendEvents(request, reply, value, watch)
  reply.code(operation.status)
  return operation.status === 204 ? reply.send() : reply.send(value)
}

/** Whoever loses the right to read a stream while it runs is cut off (contract 4.1). */
const watchFor =
  ({ replica }: Services, { permission, scope }: Operation, context: RequestContext): Watch =>
  (stop) => {
    const { caller, onlySpace } = context
    if (!caller) return () => {}
    return replica.onChange(() => {
      const objection = findObjection(replica.snapshot, caller, permission, scope === 'space' ? onlySpace : undefined)
      if (!objection) return
      context.cut(objection)
      stop(objection)
    })
  }

const checkEmpty = validator(input({}), 'body')

/** Where a body says nothing, none is needed; what it says all the same would go unheard (contract 2.0). */
const checkNoFields = (given: unknown): unknown => (given === undefined || given === null ? given : checkEmpty(given))

const ID_OF_NOTHING = '00000000-0000-0000-0000-000000000000'

/** A malformed id names nothing, so the operation is given an id that nothing has, and answers in its own words. */
function idOf(operation: Operation, params: Params): string {
  if (operation.scope === 'own-space') return params.spaceId ?? ''
  const { id } = params
  if (id === undefined) return ''
  return isId(id) ? id : ID_OF_NOTHING
}

function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

function storable(query: unknown): unknown {
  assertStorable(query, '')
  return query
}

function markDeprecated(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('deprecation', DEPRECATED_SINCE)
  const space = headerOf(request, 'space')
  if (space && isId(space)) {
    reply.header('link', `<${request.url.replace('/v1/', `/v1/spaces/${space}/`)}>; rel="successor-version"`)
  }
}
