// Persona completions (docs/contract.md 2.20): drafts or changes a persona from a wish and what was said before.
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Message } from '../outside/models/engine.ts'
import type { Structured, StructuredCall } from './structured.ts'

type FreeForm = Readonly<Record<string, unknown>>

export interface PersonaInput {
  readonly model: string
  readonly prompt?: string | undefined
  readonly current_persona?: FreeForm | undefined
  readonly history?: readonly FreeForm[] | undefined
}

const PersonaAnswer = Type.Object(
  {
    message: Type.String(),
    name: Type.String(),
    notes: Type.String(),
    birthdate: Type.String(),
    /** Pairs, because a schema with free keys is more than many servers can be bound to. */
    data: Type.Array(Type.Object({ key: Type.String(), value: Type.String() }, { additionalProperties: false })),
  },
  { additionalProperties: false },
)
type PersonaAnswer = Static<typeof PersonaAnswer>

export interface PersonaResult {
  readonly message?: string
  readonly persona?: FreeForm
  readonly error?: string
}

const BRIEF = [
  'You help to draft a persona: a made-up person who stands for a group of clients. Answer with the whole persona as it is after the',
  'wish of the user: message, name, notes, birthdate (YYYY-MM-DD, or empty when unknown) and data, a list of key and value pairs for',
  'everything else. Keep what the user did not ask to change.',
].join(' ')

const HISTORY_MAX = 20
const Day = Type.String({ format: 'date' })
const isDay = (text: string): boolean => Value.Check(Day, text)

export function personaCall({
  model,
  prompt,
  current_persona,
  history = [],
}: PersonaInput): StructuredCall<typeof PersonaAnswer> {
  const current = current_persona ? `<current_persona>\n${JSON.stringify(current_persona)}\n</current_persona>\n\n` : ''
  const messages: Message[] = [
    { role: 'system', content: BRIEF },
    ...history.slice(-HISTORY_MAX).map(toMessage),
    { role: 'user', content: `${current}${prompt || 'Draft a persona.'}` },
  ]
  return { name: 'persona', schema: PersonaAnswer, request: { model, messages } }
}

/** Fields the model left empty keep what they were, and so does a birthdate that is no day; keys it did not mention stay. */
export function toPersona(
  { current_persona: current = {} }: PersonaInput,
  asked: Structured<PersonaAnswer>,
): PersonaResult {
  const { value, error } = asked
  if (!value) return { ...(error !== undefined && { error }) }
  const { message, data, ...named } = value
  const known = isFreeForm(current['data']) ? current['data'] : {}
  const filled = Object.entries(named).filter(([field, text]) => (field === 'birthdate' ? isDay(text) : text !== ''))
  const added = Object.fromEntries(data.filter(({ key }) => key !== '').map((pair) => [pair.key, pair.value]))
  return { message, persona: { ...current, ...Object.fromEntries(filled), data: { ...known, ...added } } }
}

/** What was said before arrives in any form; role and content are used where they are there. */
function toMessage(entry: FreeForm): Message {
  const { role, content } = entry
  const said = typeof content === 'string' ? content : JSON.stringify(entry)
  return { role: role === 'assistant' ? 'assistant' : 'user', content: said }
}

const isFreeForm = (value: unknown): value is FreeForm =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
