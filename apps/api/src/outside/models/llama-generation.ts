// One answer of the embedded model: takes a slot and writes until the end, a stop, the limit or the caller's leaving.
import type { ChatWrapper, Llama, LlamaContextSequence, LlamaModel } from 'node-llama-cpp'
import { Deadline } from './deadline.ts'
import type { Delta, ModelRequest, OnDelta, Reply, ToolCallDelta } from './engine.ts'
import { toHistory } from './llama-history.ts'
import { functionsOf, grammarFor, roomTokens, samplingOf } from './llama-request.ts'
import type { Slots } from './slots.ts'
import { ToolCallJoiner } from './tool-calls.ts'

export interface Loaded {
  readonly binding: typeof import('node-llama-cpp')
  readonly llama: Llama
  readonly model: LlamaModel
  readonly wrapper: ChatWrapper
  readonly name: string
}

const FINISH_REASON: Readonly<Record<string, string>> = { maxTokens: 'length', functionCalls: 'tool_calls' }

export async function generate(
  loaded: Loaded,
  slots: Slots<LlamaContextSequence>,
  request: ModelRequest,
  totalMs: number,
  signal: AbortSignal,
  onDelta: OnDelta | undefined,
): Promise<Reply> {
  const deadline = new Deadline(signal, Math.min(totalMs, request.within_ms ?? totalMs))
  const tools = new ToolCallJoiner()
  let sequence: LlamaContextSequence | undefined
  let content = ''
  let reasoning = ''
  const take = (delta: Delta): void => {
    content += delta.content ?? ''
    reasoning += delta.reasoning_content ?? ''
    if (delta.tool_calls) tools.take(delta.tool_calls)
    // The model cannot be held back. What a slow reader leaves lying is never more than one answer.
    void onDelta?.(delta)
  }
  try {
    sequence = await slots.take(deadline.signal)
    const ending = await write(loaded, sequence, request, deadline.signal, take)
    return {
      content,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(!tools.isEmpty && { tool_calls: tools.joined() }),
      model: loaded.name,
      ...ending,
    }
  } finally {
    deadline.close()
    // Only now: the model has really stopped writing in it.
    if (sequence) slots.giveBack(sequence)
  }
}

/** Tells what is written as it is written, and gives what is known only at the end. */
async function write(
  { binding, llama, model, wrapper }: Loaded,
  sequence: LlamaContextSequence,
  request: ModelRequest,
  signal: AbortSignal,
  take: (delta: Delta) => void,
): Promise<Pick<Reply, 'finish_reason' | 'usage'>> {
  const grammar = await grammarFor(llama, request.response_format)
  const functions = grammar ? undefined : functionsOf(request)
  const history = toHistory(request.messages)
  const room = roomTokens(history, functions, request.messages, { model, wrapper, contextTokens: sequence.contextSize })
  // What an earlier caller left in the sequence must not reach this one.
  await sequence.clearHistory()
  const before = sequence.tokenMeter.getState()
  const chat = new binding.LlamaChat({ contextSequence: sequence, chatWrapper: wrapper })
  let calls = 0
  try {
    const { metadata } = await chat.generateResponse(history, {
      ...samplingOf(request),
      ...(grammar
        ? { grammar }
        : functions
          ? { functions, onFunctionCall: (call) => take(toDelta(calls++, call)) }
          : {}),
      signal,
      maxTokens: Math.min(request.max_tokens ?? request.max_completion_tokens ?? room, room),
      onResponseChunk: ({ type, text }) => {
        if (text !== '') take(type === 'segment' ? { reasoning_content: text } : { content: text })
      },
    })
    const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter.diff(before)
    return {
      finish_reason: FINISH_REASON[metadata.stopReason] ?? 'stop',
      usage: {
        prompt_tokens: usedInputTokens,
        completion_tokens: usedOutputTokens,
        total_tokens: usedInputTokens + usedOutputTokens,
      },
    }
  } finally {
    chat.dispose({ disposeSequence: false })
  }
}

function toDelta(index: number, { functionName, params }: { functionName: string; params: unknown }): Delta {
  const call: ToolCallDelta = { index, function: { name: functionName, arguments: JSON.stringify(params ?? {}) } }
  return { tool_calls: [{ ...call, id: `call_${crypto.randomUUID()}`, type: 'function' }] }
}
