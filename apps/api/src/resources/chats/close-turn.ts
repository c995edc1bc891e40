// What a turn leaves behind, told once it is over: the log, what was said, and what it took from the budgets.
import { isoTime } from '../../base/iso-time.ts'
import type { Context } from '../../contract/context.ts'
import type { Outcome } from '../../inference/outcome.ts'
import type { Reply } from '../../outside/models/engine.ts'
import { logOf, usedBy } from '../logs/call-record.ts'
import type { ChatWrite } from './chat-writes-store.ts'
import { type KeptMessage, toKept, toStored } from './messages.ts'
import type { OpenTurn } from './open-turn.ts'
import type { LastResponse } from './shapes.ts'

/** Resolves once what was said is stored, or once it is clear that the database is away and it must follow. */
export async function closeTurn(
  { records }: Pick<Context<'space'>, 'records'>,
  open: OpenTurn,
  outcome: Outcome,
): Promise<void> {
  const finishedAtMs = Date.now()
  const { head } = open
  const at = isoTime(finishedAtMs)
  const given = open.given.map((message) => toKept(message, at, head.id))
  // The log is read by people who look back, so nobody waits for it.
  void records.logs.add(logOf(head, given.map(toStored), outcome, finishedAtMs))
  const spent = open.admission.end(usedBy(outcome).total_tokens)
  const reply = saidIn(outcome)
  if (reply) await (open.chatIsNew ? records.chats : records.turns).add(chatWrite(open, given, reply, outcome, at))
  await spent
}

/** An answer that broke off on the way to its reader was said nevertheless; one that failed was not. */
function saidIn({ answer, partial, failure }: Outcome): Reply | undefined {
  if (answer) return answer
  return failure === undefined && partial && partial.content !== '' ? partial : undefined
}

function chatWrite(
  open: OpenTurn,
  given: readonly KeptMessage[],
  reply: Reply,
  outcome: Outcome,
  at: string,
): ChatWrite {
  const { head } = open
  const { content, tool_calls } = reply
  const answer = toKept({ role: 'assistant', content, ...(tool_calls && { tool_calls }) }, at, head.id)
  const isPlain = !tool_calls && reply.reasoning_content === undefined && !outcome.guard && !outcome.router
  return {
    tenant_id: head.grant.tenantId,
    space_id: head.grant.spaceId,
    chat_id: open.chatId,
    id: head.id,
    name: open.chatName,
    model: head.model,
    by: head.grant.userId,
    at,
    message_count: given.length + 1,
    messages: [...given, answer],
    last_response: isPlain ? undefined : lastResponse(reply, outcome),
  }
}

const lastResponse = (reply: Reply, { guard, router }: Outcome): LastResponse => ({
  answer: {
    ...spoken(reply),
    ...(reply.tool_calls && { tool_calls: reply.tool_calls.map((call) => ({ ...call })) }),
  },
  ...(guard && { guard: { ...spoken(guard), category: guard.category } }),
  ...(router && { router: { ...spoken(router), expert: router.expert } }),
})

const spoken = ({ content, reasoning_content }: { content: string; reasoning_content?: string }) => ({
  content,
  ...(reasoning_content !== undefined && { reasoning_content }),
})
