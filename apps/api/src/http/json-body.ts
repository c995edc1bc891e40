// Reads JSON bodies, refusing what could not be stored as it came: NUL characters, half surrogate pairs, endless nesting.
import type { FastifyInstance } from 'fastify'
import { Problem } from '../base/problem.ts'
import { DEPTH_MAX, findUnstorable } from '../base/storable.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A signature is over the bytes that came, which parsing would lose. */
    signedText: string | undefined
  }
}

/** Either character can only come from one of these escapes, or raw, which JSON itself forbids for NUL. */
const SUSPICIOUS = /\\u(0000|[dD][89a-fA-F])/
/** No shorter text can be nested too deeply: each level takes two brackets. */
const SHALLOW_LENGTH = 2 * DEPTH_MAX

export function readJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('signedText', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    try {
      if (request.headers['webhook-signature'] !== undefined) request.signedText = text as string
      done(null, parseJson(text as string))
    } catch (error) {
      done(error as Error)
    }
  })
}

export function parseJson(text: string): unknown {
  if (text === '') throw new Problem('invalid_json', 'The body is empty, and JSON was announced')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Problem('invalid_json', `The body is not valid JSON: ${(error as Error).message}`, { cause: error })
  }
  if (text.length > SHALLOW_LENGTH || (text.includes('\\u') && SUSPICIOUS.test(text))) assertStorable(value, '')
  return value
}

export function assertStorable(value: unknown, path: string): void {
  const found = findUnstorable(value, path)
  if (!found) return
  throw new Problem('invalid_request', `${found.path || 'The body'} ${found.claim}`, { param: found.path || undefined })
}
