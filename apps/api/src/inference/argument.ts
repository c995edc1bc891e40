// Argument completions (docs/contract.md 2.7): an argument that speaks to one client for one product.
import { type Static, Type } from 'typebox'
import type { Structured, StructuredCall } from './structured.ts'

export interface ArgumentInput {
  readonly model: string
  readonly client: Readonly<Record<string, unknown>>
  readonly insight_spec: {
    readonly type?: string | undefined
    readonly template?: string | undefined
    readonly examples?: readonly string[] | undefined
  }
  /** What the argument is for, in words. */
  readonly action?: string | undefined
  readonly product: { readonly name?: string | undefined; readonly description?: string | undefined }
  readonly echo?: boolean | undefined
  readonly max_tokens?: number | undefined
  readonly temperature?: number | undefined
  readonly top_p?: number | undefined
}

const ArgumentAnswer = Type.Object(
  { argument_thinking: Type.String(), argument: Type.String() },
  { additionalProperties: false },
)
type ArgumentAnswer = Static<typeof ArgumentAnswer>

export interface ArgumentResult extends Partial<ArgumentAnswer> {
  readonly error?: string
  /** Seconds. */
  readonly duration: number
}

const BRIEF = [
  'You write the argument that will convince one client of one product. First think in argument_thinking about what in the data of',
  'the client speaks for the product; then write the argument, to the client, in a few sentences. Use only what you are told.',
].join(' ')

export function argumentCall(input: ArgumentInput): StructuredCall<typeof ArgumentAnswer> {
  const { client, insight_spec: spec, product, action, echo: _, ...rest } = input
  const sections: [string, string | undefined][] = [
    ['client', JSON.stringify(client)],
    ['product', [product.name, product.description].filter(Boolean).join('\n')],
    ['action', action],
    ['kind_of_insight', spec.type],
    ['template', spec.template],
    ['examples', (spec.examples ?? []).map((example) => `- ${example}`).join('\n')],
  ]
  const content = sections.map(([name, text]) => (text ? `<${name}>\n${text}\n</${name}>` : '')).filter(Boolean)
  if (spec.template) content.push('Keep to the form of the template and fill in what it leaves open.')
  const messages = [
    { role: 'system', content: BRIEF },
    { role: 'user', content: content.join('\n\n') },
  ]
  return { name: 'argument', schema: ArgumentAnswer, request: { ...rest, messages } }
}

export function toArgument({ echo, client }: ArgumentInput, asked: Structured<ArgumentAnswer>): ArgumentResult {
  const { value, error, reply, elapsed_time_in_seconds: duration } = asked
  return {
    ...(value && {
      argument: echo ? JSON.stringify(client) + value.argument : value.argument,
      argument_thinking: value.argument_thinking || (reply.reasoning_content ?? ''),
    }),
    ...(error !== undefined && { error }),
    duration,
  }
}
