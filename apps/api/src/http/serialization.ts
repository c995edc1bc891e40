// Writes answers as their result schema says, so that what a schema does not declare cannot leak.
import fastJson from 'fast-json-stringify'
import type { FastifyInstance } from 'fastify'

type Write = (value: unknown) => string

/** Compiles when it is first used, and once for both addresses of an operation: a start would wait for all of them. */
export function writeBySchema(app: FastifyInstance): void {
  const writers = new WeakMap<object, Write>()
  app.setSerializerCompiler(({ schema }) => (value: unknown) => {
    let write = writers.get(schema as object)
    if (!write) {
      write = fastJson(schema as Parameters<typeof fastJson>[0]) as Write
      writers.set(schema as object, write)
    }
    return write(value)
  })
}
