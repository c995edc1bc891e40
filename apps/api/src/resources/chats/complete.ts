// Chat completion (contract 2.9, 4.2.3): plain and streamed answers come from the same steps.
import { isoTime } from '../../base/iso-time.ts'
import { EventStream, type Send } from '../../contract/operation.ts'
import { resource } from '../../contract/resource.ts'
import { type Answer, answer, type Tell } from '../../inference/answer.ts'
import { chunkMaker } from '../../inference/chunks.ts'
import { type Outcome, recorded } from '../../inference/outcome.ts'
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
    const turn = (onward?: Tell) =>
      recorded(
        (tell) => answer(open.calls, open.turn, tell),
        (outcome) => closeTurn(context, open, outcome),
        onward,
      )
    if (!open.turn.deltas) return toCompletion(open, await turn())
    return new EventStream(async (send) => void (await turn(inChunks(open, send))), END_MARK)
  },
})

/** Only the last chunk of a step is waited for: a reader that lags behind has to catch up with all that was sent. */
function inChunks(open: OpenTurn, send: Send): Tell {
  const chunksOf = chunkMaker(headOf(open, 'chat.completion.chunk'))
  return (step) => chunksOf(step).map(send).at(-1)
}

const headOf = ({ chatId, head }: OpenTurn, object: string) => ({
  id: chatId,
  object,
  model: head.model,
  created: Math.floor(head.createdAtMs / 1000),
  created_at: isoTime(head.createdAtMs),
})

function toCompletion(open: OpenTurn, { guard, router, ...outcome }: Outcome & { answer: Answer }): ChatCompletion {
  const { content, reasoning_content, tool_calls, logprobs, finish_reason, usage } = outcome.answer
  const message = {
    role: 'assistant',
    content,
    ...(reasoning_content !== undefined && { reasoning_content }),
    ...(tool_calls && { tool_calls: tool_calls as ChatCompletion['choices'][0]['message']['tool_calls'] & object }),
  }
  return {
    ...headOf(open, 'chat.completion'),
    choices: [{ index: 0, finish_reason, message, ...(logprobs && { logprobs }) }],
    usage,
    ...(guard && { guard }),
    ...(router && { router }),
  }
}
