// Reads JSON bodies, refusing what could not be stored as it came: broken UTF-8, NUL characters, half surrogate pairs,
// endless nesting.
import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { Problem } from '../base/problem.ts'
import { DEPTH_MAX, findUnstorable } from '../base/storable.ts'
import { assertPlain } from './plain-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A signature is over the bytes that came, which parsing would lose. */
    signedText: string | undefined
  }
}

/** With any parameters, but with no charset other than UTF-8; Fastify has quoted the values by the time it looks. */
const JSON_TYPE = /^application\/json(?!.*; charset="(?!utf-?8"))/i
/** Either character can only come from one of these escapes, or raw, which JSON itself forbids for NUL. */
const SUSPICIOUS = /\\u(0000|[dD][89a-fA-F])/
/** No shorter text can be nested too deeply: each level takes two brackets. */
const SHALLOW_LENGTH = 2 * DEPTH_MAX

export function readJsonBodies(app: FastifyInstance): void {
  app.decorateRequest('signedText', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, (request, bytes, done) => {
    try {
      assertPlain(request)
      // Many clients announce JSON whether or not they send any.
      if (bytes.length === 0 && request.routeOptions.config.takesBody === false) return done(null, undefined)
      const text = toText(bytes as Buffer)
      if (request.headers['webhook-signature'] !== undefined) request.signedText = text
      done(null, parseJson(text))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** Decoding alone would put a replacement character for each byte that is wrong, and nobody would hear of it. */
function toText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Problem('invalid_json', 'The body is not valid UTF-8: send JSON encoded as UTF-8')
  return bytes.toString('utf8')
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
