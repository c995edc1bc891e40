// Chat completion (contract 2.9, 4.2.3): plain and streamed answers come from the same steps.
import { timeOf } from '../../base/ids.ts'
import { EventStream } from '../../contract/operation.ts'
import { resource } from '../../contract/resource.ts'
import { type Answer, answer } from '../../inference/answer.ts'
import { toChunks } from '../../inference/chunks.ts'
import { fold, type Outcome, recorded } from '../../inference/outcome.ts'
import { closeTurn } from './close-turn.ts'
import { type OpenTurn, openTurn } from './open-turn.ts'
import { ChatCompletion, CompletionRequest } from './shapes.ts'

const END_MARK = '[DONE]'

export const complete = resource('chats', 'space').action(
  'complete',
  'POST',
  '/completions',
)({
  summary: 'Complete a chat; an OpenAI client works with the space as its base URL',
  permission: 'chats:create',
  aliases: ['/chat/completions'],
  body: CompletionRequest,
  result: ChatCompletion,
  run: async (context, { body }) => {
    const open = await openTurn(context, body)
    const steps = recorded(answer(open.calls, open.turn), (outcome) => closeTurn(context, open, outcome))
    if (body.stream) return new EventStream(toChunks(steps, headOf(open, 'chat.completion.chunk')), END_MARK)
    return toCompletion(open, await fold(steps))
  },
})

const headOf = ({ chatId, head }: OpenTurn, object: string) => {
  const createdAtMs = timeOf(head.id)
  return {
    id: chatId,
    object,
    model: head.model,
    created: Math.floor(createdAtMs / 1000),
    created_at: new Date(createdAtMs).toISOString(),
  }
}

function toCompletion(open: OpenTurn, { guard, router, ...outcome }: Outcome & { answer: Answer }): ChatCompletion {
  const { content, reasoning_content, tool_calls, finish_reason, usage } = outcome.answer
  const message = {
    role: 'assistant',
    content,
    ...(reasoning_content !== undefined && { reasoning_content }),
    ...(tool_calls && { tool_calls: tool_calls as ChatCompletion['choices'][0]['message']['tool_calls'] & object }),
  }
  return {
    ...headOf(open, 'chat.completion'),
    choices: [{ index: 0, finish_reason, message }],
    usage,
    ...(guard && { guard }),
    ...(router && { router }),
  }
}
