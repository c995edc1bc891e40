// Turns OpenAI's messages into the chat history of llama.cpp's binding.
import type { ChatHistoryItem, ChatModelFunctionCall, ChatModelResponse } from 'node-llama-cpp'
import { type Message, type ToolCall, textOf } from './engine.ts'

/**
 * Neighbours of one role become one item, because many chat templates insist that roles alternate. A tool's result
 * joins the call it answers. The history ends with the model's turn, which is what the model then writes.
 */
export function toHistory(messages: readonly Message[]): ChatHistoryItem[] {
  const history: ChatHistoryItem[] = []
  const calls = new Map<string, ChatModelFunctionCall>()
  for (const message of messages) {
    const text = textOf(message)
    if (message.role === 'tool') {
      const call = calls.get(message.tool_call_id ?? '')
      if (call) call.result = text
      else addText(history, 'user', text)
    } else if (message.role === 'assistant') {
      const turn = modelTurn(history)
      if (text) turn.response.push(text)
      for (const made of message.tool_calls ?? []) turn.response.push(remember(calls, made))
    } else {
      addText(history, message.role === 'user' ? 'user' : 'system', text)
    }
  }
  modelTurn(history)
  return history
}

function addText(history: ChatHistoryItem[], type: 'user' | 'system', text: string): void {
  const last = history.at(-1)
  if (last?.type === type) last.text = `${last.text}\n\n${text}`
  else history.push({ type, text })
}

function modelTurn(history: ChatHistoryItem[]): ChatModelResponse {
  const last = history.at(-1)
  if (last?.type === 'model') return last
  const turn: ChatModelResponse = { type: 'model', response: [] }
  history.push(turn)
  return turn
}

function remember(calls: Map<string, ChatModelFunctionCall>, { id, function: made }: ToolCall): ChatModelFunctionCall {
  const call: ChatModelFunctionCall = {
    type: 'functionCall',
    name: made.name,
    params: paramsIn(made.arguments),
    result: '',
  }
  calls.set(id, call)
  return call
}

function paramsIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
