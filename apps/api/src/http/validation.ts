// Checks what clients send against its schema: bodies strictly, query strings with their texts read as numbers and flags.
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { type Part, problemOf } from './faults.ts'

/** Compiles when it is first used: there are hundreds of these, and a start would wait for all of them. */
export function validator<T extends TSchema>(schema: T, part: Part): (value: unknown) => Static<T> {
  let ready: ReturnType<typeof compile<T>> | undefined
  return (given) => {
    ready ??= compile(schema)
    const { compiled, fillsIn } = ready
    const read = part === 'query' ? readTexts(schema, given as Record<string, unknown>) : given
    const value = fillsIn ? compiled.Default(read) : read
    if (!compiled.Check(value)) throw problemOf(schema, compiled.Errors(value), part)
    return value
  }
}

const compile = <T extends TSchema>(schema: T) => ({
  compiled: Compile(schema),
  fillsIn: JSON.stringify(schema).includes('"default":'),
})

interface Property {
  type?: string
  items?: Property
}

/** A query string knows only texts. Anything that is not plainly the wanted type stays a text, and fails the check. */
function readTexts(schema: TSchema, query: Record<string, unknown>): Record<string, unknown> {
  const properties = (schema as { properties?: Record<string, Property> }).properties ?? {}
  const read: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(properties)) {
    const given = query[name]
    if (given === undefined) continue
    if (property.type === 'array') {
      read[name] = (Array.isArray(given) ? given : [given]).map((item) => readText(item, property.items?.type))
    } else {
      read[name] = readText(given, property.type)
    }
  }
  return read
}

function readText(given: unknown, type: string | undefined): unknown {
  if (typeof given !== 'string') return given
  if ((type === 'integer' || type === 'number') && /^-?\d+(\.\d+)?$/.test(given)) return Number(given)
  if (type === 'boolean' && (given === 'true' || given === 'false')) return given === 'true'
  return given
}
