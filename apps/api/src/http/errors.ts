// The one place where an error becomes an answer (contract 7).
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Code, Problem, STATUS } from '../base/problem.ts'
import { either, toSize } from '../base/words.ts'
import { isConnectionFailure } from '../storage/sql.ts'
import { noteMethods } from './methods.ts'

const TYPES: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'upstream_error',
  503: 'upstream_error',
  504: 'upstream_error',
}

/** To be called before the first address is added, for it tells a wrong method from a wrong address. */
export function answerErrors(app: FastifyInstance): void {
  const methodsAt = noteMethods(app)
  const sendNowhere = (request: FastifyRequest, reply: FastifyReply) => {
    const { method } = request
    const [path = ''] = request.url.split('?', 1)
    const methods = methodsAt(path)
    if (methods.length === 0) {
      return sendProblem(request, reply, new Problem('not_found', `There is nothing at ${method} ${path}`))
    }
    reply.header('allow', methods.join(', '))
    const message = `${method} is not possible at this address: use ${either(methods)}`
    return sendProblem(request, reply, new Problem('method_not_allowed', message))
  }
  app.setErrorHandler((error: FastifyError | Problem, request, reply) => {
    // Whatever is wrong with its body: a request to nowhere is wrong first of all.
    if (request.is404) return sendNowhere(request, reply)
    const isTooLarge = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
    return sendProblem(request, reply, isTooLarge ? tooLarge(error, request) : toProblem(error))
  })
  app.setNotFoundHandler(sendNowhere)
}

/** Also called by Fastify itself, for addresses it cannot even route. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: Problem) {
  // Work that was dropped because its client left has failed nobody.
  if (problem.status >= 500 && !reply.raw.destroyed) {
    request.log.error({ reqId: request.id, err: problem.cause ?? problem, code: problem.code }, 'request failed')
  }
  if (problem.retryAfterSeconds !== undefined) reply.header('retry-after', String(problem.retryAfterSeconds))
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply
    .code(problem.status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(bodyOf(problem, request.id))
}

export const bodyOf = (problem: Problem, requestId: string) => ({
  error: {
    type: TYPES[problem.status] ?? 'invalid_request_error',
    code: problem.code,
    message: problem.message,
    param: problem.param,
    status: problem.status,
    request_id: requestId,
    details: problem.details,
    access: problem.access,
  },
})

const FROM_FASTIFY: Record<string, [Code, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json, in UTF-8'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as Content-Length says'],
  FST_ERR_BAD_URL: ['invalid_request', 'The address is not a valid URL'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'There is nothing at this address'],
}

export function toProblem(error: FastifyError | Problem | Error): Problem {
  if (error instanceof Problem) return error
  const { code, statusCode } = error as Partial<FastifyError>
  const known = FROM_FASTIFY[code ?? '']
  if (known) return new Problem(known[0], known[1], { cause: error })
  if (isConnectionFailure(error)) {
    return new Problem('database_unavailable', 'The database cannot be reached right now', {
      cause: error,
      retryAfterSeconds: 1,
    })
  }
  // A statement that ran too long, waited too long for a lock, or met another one head-on: worth another try.
  if (code && ['57014', '55P03', '40P01', '40001'].includes(code)) {
    return new Problem('database_unavailable', 'The database is too busy right now', {
      cause: error,
      retryAfterSeconds: 2,
    })
  }
  // The stores tell what keeps a record from being deleted. What is left are writers who came a moment too late.
  if (code === '23503') {
    return new Problem('conflict', 'A record that this one refers to was deleted meanwhile', { cause: error })
  }
  if (statusCode && statusCode >= 400 && statusCode < 500) {
    return new Problem('invalid_request', error.message, { cause: error })
  }
  return new Problem('internal', 'Something went wrong on our side', { cause: error })
}

const tooLarge = (cause: Error, { routeOptions: { bodyLimit = 0 } }: FastifyRequest) =>
  new Problem('body_too_large', `The body is larger than ${toSize(bodyLimit)}, which is the limit`, { cause })

/** What cannot even be parsed as a request is answered on the bare socket. */
export function rawProblem(code: string | undefined, requestId: string): { status: number; body: string } {
  const problem =
    code === 'HPE_HEADER_OVERFLOW'
      ? new Problem('headers_too_large', 'The headers are larger than 64 KiB')
      : new Problem('invalid_request', 'This is not a valid HTTP request')
  return { status: STATUS[problem.code], body: JSON.stringify(bodyOf(problem, requestId)) }
}
