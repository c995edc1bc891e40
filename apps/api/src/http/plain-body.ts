// Refuses bodies that are compressed, in JSON and in forms alike: read as they are, they would only look broken.
import type { FastifyRequest } from 'fastify'
import { Problem } from '../base/problem.ts'

export function assertPlain({ headers }: FastifyRequest): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  const message = `Send the body as it is: it came with Content-Encoding ${encoding}, which is not taken`
  throw new Problem('unsupported_media_type', message, { param: 'Content-Encoding' })
}
