// Reads forms of files (multipart/form-data) as they arrive: nothing is gathered, neither in memory nor on disk.
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../base/problem.ts'
import { toSize } from '../base/words.ts'
import type { SentFile } from '../contract/files.ts'
import { assertPlain } from './plain-body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    uploadBytesMax: number
  }
}

const FILES_MAX = 20
const NAME_LENGTH_MAX = 200

export async function readFileBodies(scope: FastifyInstance, uploadBytesMax: number): Promise<void> {
  scope.decorateRequest('uploadBytesMax', uploadBytesMax)
  scope.removeAllContentTypeParsers()
  // Any other type is let through to be refused with a word about what is expected.
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
  // Sizes are counted below, over all files together; more files than the maximum are seen as one too many.
  await scope.register(multipart, {
    limits: { fileSize: Infinity, files: FILES_MAX + 1, fields: 1, fieldSize: 1024, headerPairs: 20 },
  })
}

/** Does nothing until the first file is asked for. A file that is not read to its end is passed over. */
export async function* filesOf(request: FastifyRequest): AsyncGenerator<SentFile> {
  const { uploadBytesMax } = request
  if (!request.isMultipart()) throw new Problem('unsupported_media_type', 'Send the files as multipart/form-data')
  assertPlain(request)
  if (Number(request.headers['content-length']) > uploadBytesMax) throw tooLarge(uploadBytesMax)
  let bytesLeft = uploadBytesMax
  let filesLeft = FILES_MAX

  async function* counted(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of bytes) {
        bytesLeft -= chunk.length
        if (bytesLeft < 0) throw tooLarge(uploadBytesMax)
        yield chunk
      }
    } catch (error) {
      throw toMultipartProblem(error)
    }
  }

  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') throw notAFile(part.fieldname)
      if (filesLeft-- === 0) throw new Problem('invalid_request', `Send at most ${FILES_MAX} files at once`)
      const stream = part.file.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
      yield { field: part.fieldname, name: (part.filename ?? '').slice(0, NAME_LENGTH_MAX), bytes: counted(stream) }
      if (!part.file.readableEnded) for await (const _ of counted(part.file));
    }
  } catch (error) {
    throw toMultipartProblem(error)
  } finally {
    // What is left of a refused body is let go by, so that the client gets to read the answer.
    request.raw.unpipe()
    request.raw.resume()
  }
}

const tooLarge = (bytesMax: number) =>
  new Problem('body_too_large', `The upload is larger than ${toSize(bytesMax)}, which is the limit`, { param: 'files' })

const notAFile = (field: string) =>
  field === 'files'
    ? new Problem('invalid_request', 'files came as text: send it as a file, with a file name', { param: field })
    : new Problem('unknown_field', `${field} is not a field of this request`, { param: field })

function toMultipartProblem(error: unknown): unknown {
  if (error instanceof Problem) return error
  return new Problem('invalid_request', 'The body is not well-formed multipart/form-data', { cause: error })
}
