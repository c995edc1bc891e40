// A model's structured answer as one call of the service: within the budgets, and logged once whatever becomes of it.
import type { Static, TSchema } from 'typebox'
import { newId, timeOf } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Context } from '../../contract/context.ts'
import type { Tell } from '../../inference/answer.ts'
import { metered } from '../../inference/metered.ts'
import { type Outcome, recorded } from '../../inference/outcome.ts'
import { askForJson, type Structured, type StructuredCall } from '../../inference/structured.ts'
import { expectedTokens } from '../../outside/models/usage.ts'
import { toKept, toStored } from '../chats/messages.ts'
import { logOf, usedBy } from './call-record.ts'

export interface LoggedCall<T extends TSchema> {
  /** The operation. */
  readonly api: string
  /** As the request names it. */
  readonly model: string | undefined
  callOn(model: string): StructuredCall<T>
}

/** `logId` is free to become the id of what is made of the answer. */
export type Logged<T> = Structured<T> & { readonly logId: string }

export async function askAndLog<T extends TSchema>(
  { grant, directory, budgets, records, signal }: Context<'space'>,
  { api, callOn, ...given }: LoggedCall<T>,
): Promise<Logged<Static<T>>> {
  records.logs.assertRoom()
  const models = await directory.of(grant)
  const engine = metered(directory.engineOf(models))
  const model = given.model ?? directory.defaults.model
  if (model === undefined)
    throw new Problem('invalid_request', 'model is required: no default is set', { param: 'model' })
  const call = callOn(model)
  const admission = await budgets.admit(grant, () => expectedTokens(call.request), models.settings)
  const id = newId()
  const head = { id, createdAtMs: timeOf(id), grant, api, model, stream: false, type: call.name }
  const calls = { engine, signal, formats: directory.formats, now: () => performance.now() }

  let asked: Structured<Static<T>> | undefined
  const run = async (tell: Tell) => {
    void tell({ asking: call.request })
    asked = await askForJson(calls, call)
    const { reply, usage, elapsed_time_in_seconds } = asked
    void tell({ answer: { ...reply, usage, elapsed_time_in_seconds } })
  }
  const close = async ({ partial, ...outcome }: Outcome) => {
    const whole: Outcome = {
      ...outcome,
      ...(partial && { partial: { ...partial, usage: engine.used } }),
      // An answer that cannot be used is no success, although the caller gets an answer.
      ...(asked?.error !== undefined && { error: asked.error }),
    }
    const at = Date.now()
    const messages = call.request.messages.map((message) =>
      toStored(toKept(message, new Date(at).toISOString(), head.id)),
    )
    void records.logs.add(logOf(head, messages, whole, at))
    await admission.end(usedBy(whole).total_tokens)
  }
  await recorded(run, close)
  return { ...asked!, logId: head.id }
}
