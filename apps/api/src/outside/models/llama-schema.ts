// Fits a JSON Schema to what llama.cpp's binding can turn into a grammar, and refuses what it would get wrong.
import type { GbnfJsonObjectSchema } from 'node-llama-cpp'
import { Problem } from '../../base/problem.ts'

/** Keywords the binding would silently read as "null only". Those it merely ignores leave the grammar looser, which is safe. */
const UNSUPPORTED = ['allOf', 'not', 'if', 'patternProperties'] as const
/** A grammar grows with each repetition it counts, and a huge one would hold up the whole process. */
const COUNT_MAX = 1_000
const SCHEMA_CHARACTERS_MAX = 64 * 1024

/** `param` is the field of the request that the schema came in. */
export function toGrammarSchema(schema: object, param: string): GbnfJsonObjectSchema {
  try {
    if (JSON.stringify(schema).length > SCHEMA_CHARACTERS_MAX) throw new Unfit('it is too large')
    return fit(schema) as GbnfJsonObjectSchema
  } catch (cause) {
    if (!(cause instanceof Unfit)) throw cause
    const message = `The embedded model cannot follow this JSON schema: ${cause.message}`
    throw new Problem('invalid_request', message, { param })
  }
}

class Unfit extends Error {}

/** A grammar for any value would be one for any length; a plain one is valid too, and small models get it right. */
const ANY_VALUE = { oneOf: ['string', 'number', 'boolean', 'null'].map((type) => ({ type })) }
/** Keywords whose value is a schema, or several. */
const HOLDING = new Set(['items', 'prefixItems', 'additionalProperties', 'oneOf', 'anyOf'])
const TELLING = ['type', 'enum', 'const', 'oneOf', 'anyOf', '$ref']

function fit(schema: unknown): unknown {
  if (schema === true) return ANY_VALUE
  if (Array.isArray(schema)) return schema.map(fit)
  if (typeof schema !== 'object' || schema === null)
    throw new Unfit(`it has ${JSON.stringify(schema)} where a schema is due`)
  return typed(fitKeys(schema))
}

/** The binding takes a schema that tells no type for "null only". */
function typed(schema: Record<string, unknown>): object {
  if (TELLING.some((key) => key in schema)) return schema
  if ('properties' in schema) return { type: 'object', ...schema }
  return 'items' in schema ? { type: 'array', ...schema } : { ...schema, ...ANY_VALUE }
}

function fitKeys(schema: object): Record<string, unknown> {
  const fitted: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if ((UNSUPPORTED as readonly string[]).includes(key)) throw new Unfit(`it uses ${key}`)
    if (typeof value === 'number' && value > COUNT_MAX) {
      if (key === 'minLength' || key === 'minItems' || key === 'minProperties')
        throw new Unfit(`its ${key} is too large`)
      if (key === 'maxLength' || key === 'maxItems' || key === 'maxProperties') continue
    }
    if (key === 'properties' || key === '$defs') fitted[key] = fitEach(value)
    else if (key === 'additionalProperties' && typeof value === 'boolean') fitted[key] = value
    else if (HOLDING.has(key)) fitted[key === 'anyOf' ? 'oneOf' : key] = fit(value)
    else fitted[key] = value
  }
  return fitted
}

/** Below properties and $defs the keys are names of the author's choosing, not keywords. */
const fitEach = (named: unknown): unknown =>
  typeof named === 'object' && named !== null
    ? Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, fit(schema)]))
    : named
