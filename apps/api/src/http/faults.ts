// Says in words what is wrong with a value that fails its schema, and what would be right. Schema talk stays inside.
import type { TSchema } from 'typebox'
import type { TLocalizedValidationError as Fault } from 'typebox/error'
import { type Detail, Problem } from '../base/problem.ts'
import { either } from '../base/words.ts'
import { FORMAT_WORDS } from '../contract/shapes.ts'

export type Part = 'body' | 'query'

export function problemOf(schema: TSchema, faults: readonly Fault[], part: Part): Problem {
  const all = detailsOf(schema, faults)
  const first = all[0] ?? { param: '', message: `The ${part} does not have the expected form` }
  const message = all.length > 1 ? `${first.message} (and ${all.length - 1} more)` : first.message
  const isUnknown = faults.some(({ keyword }) => keyword === 'additionalProperties')
  return new Problem(isUnknown ? 'unknown_field' : 'invalid_request', message, {
    param: first.param || undefined,
    ...(all.length > 1 && { details: all }),
  })
}

/** One for each place, the first that was found there. */
function detailsOf(schema: TSchema, faults: readonly Fault[]): Detail[] {
  const details = new Map<string, string>()
  const add = (param: string, claim: string) => {
    if (!details.has(param)) details.set(param, `${param || 'The body'} ${claim}`)
  }
  // Of a union, the checker tells what each branch misses, and last that none fits. A branch of the right kind is the one
  // that was meant, and only what is wrong inside it is told; without one, all the kinds are. It may stop before it has
  // been through a union: then the kinds so far would be half of the truth, and are left out.
  const kinds = new Map<string, string[]>()
  const told: Fault[] = []
  for (const fault of faults) {
    const kind = isBranch(fault) ? kindsOf(fault) : undefined
    const union = unionOf(fault)
    if (kind) {
      kinds.set(union, [...(kinds.get(union) ?? []), ...kind])
      continue
    }
    if (fault.keyword !== 'anyOf') for (const [param, claim] of claimsOf(schema, fault)) add(param, claim)
    else if (!told.some((other) => isInside(other, fault)))
      add(paramOf(fault), `must be ${either(kinds.get(union) ?? [])}`)
    told.push(fault)
  }
  return [...details].map(([param, message]) => ({ param, message }))
}

const BRANCH = /\/anyOf\/\d+$/
const isBranch = ({ schemaPath }: Fault) => BRANCH.test(schemaPath)
const unionOf = ({ schemaPath, instancePath }: Fault) => `${schemaPath.replace(BRANCH, '')} ${instancePath}`
const isInside = (fault: Fault, union: Fault) =>
  fault.schemaPath.startsWith(`${union.schemaPath}/anyOf/`) && fault.instancePath.startsWith(union.instancePath)
const paramOf = ({ instancePath }: Fault) => instancePath.slice(1).replaceAll('/', '.')

const TYPE_WORDS: Record<string, string[]> = {
  string: ['a string'],
  integer: ['an integer'],
  number: ['a number'],
  boolean: ['true', 'false'],
  array: ['an array'],
  object: ['an object'],
}

/** What would be right, for a value of the wrong kind; all other faults are in a value of the right kind. */
function kindsOf({ keyword, params }: Fault): string[] | undefined {
  switch (keyword) {
    case 'type':
      return [params.type].flat().flatMap((type) => TYPE_WORDS[type] ?? type)
    case 'enum':
      return params.allowedValues.map(String)
    case 'const':
      return [JSON.stringify(params.allowedValue)]
    default:
      return undefined
  }
}

function claimsOf(schema: TSchema, fault: Fault): [param: string, claim: string][] {
  const at = paramOf(fault)
  const inside = (name: string) => (at ? `${at}.${name}` : name)
  const { keyword, params } = fault
  switch (keyword) {
    case 'boolean':
      return []
    case 'additionalProperties':
      return params.additionalProperties.map((name) => [inside(name), 'is not a field of this request'])
    case 'required':
      return params.requiredProperties.map((name) => [inside(name), 'is required'])
    case 'minimum':
      return [[at, `must be at least ${params.limit}`]]
    case 'maximum':
      return [[at, `must be at most ${params.limit}`]]
    case 'minLength':
      return [[at, params.limit === 1 ? 'must not be empty' : fault.message]]
    case 'minItems':
      return [[at, params.limit === 1 ? 'must have at least one item' : fault.message]]
    case 'pattern':
      return [[at, `must be ${wordsAt(schema, fault.schemaPath)}`]]
    case 'format':
      return [[at, `must be ${FORMAT_WORDS[params.format as keyof typeof FORMAT_WORDS]}`]]
    default: {
      const kinds = kindsOf(fault)
      return [[at, kinds ? `must be ${either(kinds)}` : fault.message]]
    }
  }
}

/** A pattern means nothing to most people, so each has a description that says the same. */
function wordsAt(schema: TSchema, schemaPath: string): unknown {
  let place: unknown = schema
  for (const step of schemaPath.split('/').slice(1)) {
    place = (place as Record<string, unknown>)[step.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  return (place as TSchema & { description: string }).description
}
