// Everything that must be known, read and allowed before a model is asked to complete a chat.
import type { Admission } from '../../access/budgets/budgets.ts'
import { isId, newId, timeOf } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Context } from '../../contract/context.ts'
import type { Turn } from '../../inference/answer.ts'
import type { ModelCalls } from '../../inference/calls.ts'
import type { SpaceSettings } from '../../inference/space-models.ts'
import { type Message, type ModelRequest, type ResponseFormat, textOf } from '../../outside/models/engine.ts'
import { expectedTokens } from '../../outside/models/usage.ts'
import type { CallHead } from '../logs/call-record.ts'
import { getChat, type SpokenChat } from './chats-store.ts'
import { readExperts } from './experts-store.ts'
import { fromKept, toMessage } from './messages.ts'
import { CompletionRequest } from './shapes.ts'

export interface OpenTurn {
  readonly head: CallHead
  readonly chatId: string
  readonly chatIsNew: boolean
  /** Given by the request, or made up for a new chat. */
  readonly chatName: string | undefined
  /** What this call brings to the conversation. */
  readonly given: readonly Message[]
  readonly turn: Turn
  readonly calls: ModelCalls
  readonly admission: Admission
}

const NAME_CHARACTERS_MAX = 80
/** Enough to find a name in, however much white space there is. */
const NAME_SOURCE_MAX = 1_000

export async function openTurn(context: Context<'space'>, body: CompletionRequest): Promise<OpenTurn> {
  const { db, grant, records, budgets, directory, signal } = context
  for (const buffer of [records.logs, records.chats, records.turns]) buffer.assertRoom()
  const found = directory.of(grant)
  const models = found instanceof Promise ? await found : found
  const engine = directory.engineOf(models)
  const chat = body.id === undefined ? undefined : await continued(context, body.id)
  const model = body.model ?? chat?.model ?? directory.defaults.model
  if (model === undefined)
    throw new Problem('invalid_request', 'model is required: no default is set', { param: 'model' })
  const known = chat?.messages.map(fromKept) ?? []
  const given = newIn(body.messages.map(toMessage), known)
  const request = toRequest(body, chat, model, [...known, ...given])
  const isRouted = body.router_enabled ?? chat?.router_enabled ?? false
  const experts = isRouted ? await db.as(grant, (sql) => readExperts(sql, grant, body.expert_ids)) : []
  const admission = await budgets.admit(grant, () => expectedTokens(request), models.settings)
  const id = newId()
  return {
    head: {
      id,
      createdAtMs: timeOf(id),
      grant,
      api: 'chats.complete',
      model,
      stream: body.stream ?? false,
      type: body.type,
      user: body.user,
      position: (chat?.turns ?? 0) + 1,
      tags: body.tags,
      metadata: body.metadata,
    },
    chatId: chat?.id ?? newId(),
    chatIsNew: !chat,
    chatName: body.name ?? (chat ? undefined : nameFrom(given)),
    given,
    turn: {
      request,
      deltas: body.stream ?? false,
      guard: (body.guard_enabled ?? chat?.guard_enabled) ? guardOf(body, models.settings, context, model) : undefined,
      router: isRouted
        ? {
            model: models.settings.router_model ?? directory.defaults.router ?? model,
            experts,
            reasoning: body.router_reasoning_enabled,
          }
        : undefined,
      echo: body.echo,
    },
    calls: { engine, signal, formats: directory.formats, now: () => performance.now() },
    admission,
  }
}

async function continued({ db, grant }: Context<'space'>, id: string): Promise<SpokenChat> {
  if (!isId(id)) throw new Problem('not_found', 'No such chat', { param: 'id' })
  return db.as(grant, (sql) => getChat(sql, grant, id))
}

const guardOf = (
  body: CompletionRequest,
  settings: SpaceSettings,
  { directory }: Context<'space'>,
  model: string,
): Turn['guard'] => ({
  model: settings.guard_model ?? directory.defaults.guard ?? model,
  style: settings.guard_style,
  policy: settings.guard_policy,
  failOpen: settings.guard_fail_open,
  reasoning: body.guard_reasoning_enabled,
})

function toRequest(
  body: CompletionRequest,
  chat: SpokenChat | undefined,
  model: string,
  messages: readonly Message[],
): ModelRequest {
  const { tools, response_format } = body
  return {
    model,
    messages,
    max_tokens: body.max_tokens ?? (body.max_completion_tokens ? undefined : chat?.max_tokens),
    max_completion_tokens: body.max_completion_tokens ?? undefined,
    temperature: body.temperature ?? chat?.temperature,
    top_p: body.top_p ?? undefined,
    tools: tools && tools.length > 0 ? tools : undefined,
    response_format: response_format ? formatOf(response_format) : undefined,
    parameters: furtherIn(body),
  }
}

function formatOf({ type, json_schema, ...rest }: NonNullable<CompletionRequest['response_format']>): ResponseFormat {
  if (type !== 'json_schema') return { ...rest, type }
  if (json_schema) return { ...rest, type, json_schema }
  throw new Problem('invalid_request', 'response_format.json_schema is required', { param: 'response_format' })
}

/** Parameters that only the model server knows; most requests have none. */
function furtherIn(body: CompletionRequest): Record<string, unknown> | undefined {
  let further: Record<string, unknown> | undefined
  for (const name in body) {
    if (OWN_FIELDS.has(name)) continue
    further ??= {}
    further[name] = (body as Record<string, unknown>)[name]
  }
  return further
}

const OWN_FIELDS: ReadonlySet<string> = new Set(Object.keys(CompletionRequest.properties))

/** A client may send only what is new, or the whole conversation again; what is known already is not added twice. */
export function newIn(given: readonly Message[], known: readonly Message[]): readonly Message[] {
  const repeats = given.length > known.length && known.every((message, i) => isSame(message, given[i]!))
  return repeats ? given.slice(known.length) : given
}

const isSame = (a: Message, b: Message): boolean =>
  a.role === b.role && textOf(a) === textOf(b) && (a.tool_calls?.length ?? 0) === (b.tool_calls?.length ?? 0)

function nameFrom(given: readonly Message[]): string {
  const first = given.find(({ role }) => role === 'user') ?? given[0]!
  const words = textOf(first).slice(0, NAME_SOURCE_MAX).replace(/\s+/g, ' ').trim()
  if (words.length <= NAME_CHARACTERS_MAX) return words.toWellFormed() || 'Chat'
  // Cut between characters, never inside one.
  return [...words.slice(0, 2 * NAME_CHARACTERS_MAX)].slice(0, NAME_CHARACTERS_MAX).join('').toWellFormed()
}
