// Fits a JSON Schema to what llama.cpp's binding can turn into a grammar, and refuses what it would get wrong.
import type { GbnfJsonObjectSchema } from 'node-llama-cpp'
import { Problem } from '../../base/problem.ts'

/** Keywords the binding would silently read as "null only". Those it merely ignores leave the grammar looser, which is safe. */
const UNSUPPORTED = ['allOf', 'not', 'if', 'patternProperties'] as const
/** A grammar grows with each repetition it counts, and a huge one would hold up the whole process. */
const COUNT_MAX = 1_000
const SCHEMA_CHARACTERS_MAX = 64 * 1024

export function toGrammarSchema(schema: object): GbnfJsonObjectSchema {
  if (JSON.stringify(schema).length > SCHEMA_CHARACTERS_MAX) throw refused('it is too large')
  return fit(schema) as GbnfJsonObjectSchema
}

function fit(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(fit)
  if (typeof schema !== 'object' || schema === null) return schema
  const fitted: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if ((UNSUPPORTED as readonly string[]).includes(key)) throw refused(`it uses ${key}`)
    if (typeof value === 'number' && value > COUNT_MAX) {
      if (key === 'minLength' || key === 'minItems' || key === 'minProperties') throw refused(`its ${key} is too large`)
      if (key === 'maxLength' || key === 'maxItems' || key === 'maxProperties') continue
    }
    if (key === 'enum' || key === 'const') fitted[key] = value
    else if (key === 'properties' || key === '$defs') fitted[key] = fitEach(value)
    else fitted[key === 'anyOf' ? 'oneOf' : key] = fit(value)
  }
  return fitted
}

/** Below properties and $defs the keys are names of the author's choosing, not keywords. */
const fitEach = (named: unknown): unknown =>
  typeof named === 'object' && named !== null
    ? Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, fit(schema)]))
    : named

const refused = (because: string): Problem =>
  new Problem('invalid_request', `The embedded model cannot follow this JSON schema: ${because}`, {
    param: 'response_format',
  })
