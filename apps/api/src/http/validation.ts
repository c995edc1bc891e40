// Checks what clients send against its schema: bodies strictly, query strings with their texts read as numbers and flags.
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { type Detail, Problem } from '../base/problem.ts'

export type Part = 'body' | 'query'

/** Compiles when it is first used: there are hundreds of these, and a start would wait for all of them. */
export function validator<T extends TSchema>(schema: T, part: Part): (value: unknown) => Static<T> {
  let ready: ReturnType<typeof compile<T>> | undefined
  return (given) => {
    ready ??= compile(schema)
    const { compiled, fillsIn } = ready
    const read = part === 'query' ? readTexts(schema, given as Record<string, unknown>) : given
    const value = fillsIn ? compiled.Default(read) : read
    if (!compiled.Check(value)) throw problemOf(compiled.Errors(value), part)
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

function problemOf(errors: readonly TLocalizedValidationError[], part: Part): Problem {
  const details = new Map<string, Detail>()
  let unknown = false
  for (const error of errors) {
    for (const detail of detailsOf(error)) if (!details.has(detail.param)) details.set(detail.param, detail)
    unknown ||= error.keyword === 'additionalProperties'
  }
  const all = [...details.values()]
  const first = all[0] ?? { param: '', message: `The ${part} does not have the expected form` }
  const message = all.length > 1 ? `${first.message} (and ${all.length - 1} more)` : first.message
  return new Problem(unknown ? 'unknown_field' : 'invalid_request', message, {
    param: first.param || undefined,
    ...(all.length > 1 && { details: all }),
  })
}

/** Says what is wrong in words about the field; schema talk such as anyOf stays inside. */
function detailsOf(error: TLocalizedValidationError): Detail[] {
  const at = error.instancePath.slice(1).replaceAll('/', '.')
  const inside = (name: string) => (at ? `${at}.${name}` : name)
  const about = (param: string, claim: string): Detail => ({ param, message: `${param || 'The body'} ${claim}` })
  switch (error.keyword) {
    case 'boolean':
      return []
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) => about(inside(name), 'is not a field of this request'))
    case 'required':
      return error.params.requiredProperties.map((name) => about(inside(name), 'is required'))
    case 'type':
      return [about(at, `must be of type ${[error.params.type].flat().join(' or ')}`)]
    case 'enum':
      return [about(at, `must be one of ${error.params.allowedValues.join(', ')}`)]
    case 'const':
      return [about(at, `must be ${JSON.stringify(error.params.allowedValue)}`)]
    case 'minLength':
      return [about(at, error.params.limit === 1 ? 'must not be empty' : error.message)]
    case 'minItems':
      return [about(at, error.params.limit === 1 ? 'must have at least one item' : error.message)]
    default:
      return [about(at, error.message)]
  }
}
