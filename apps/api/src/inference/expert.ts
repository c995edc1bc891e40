// An expert of a space (docs/contract.md 2.15): what it knows goes before the conversation, its tools join the caller's.
import type { ModelRequest, Tool } from '../outside/models/engine.ts'
import { withSystem } from './system-message.ts'

export interface Expert {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly context?: string | undefined
  readonly file_context?: readonly Readonly<Record<string, string>>[] | undefined
  readonly tools?: readonly Tool[] | undefined
}

export function withExpert(request: ModelRequest, expert: Expert): ModelRequest {
  const tools = joinTools(request.tools ?? [], expert.tools ?? [])
  const brief = briefOf(expert)
  return {
    ...request,
    messages: brief === undefined ? request.messages : withSystem(request.messages, brief),
    ...(tools.length > 0 && { tools }),
  }
}

function briefOf({ name, context, file_context: files = [] }: Expert): string | undefined {
  if (!context && files.length === 0) return undefined
  const parts = [`<expert name=${JSON.stringify(name)}>`]
  if (context) parts.push(context)
  for (const file of files) {
    const lines = Object.entries(file).map(([key, text]) => `${key}: ${text}`)
    parts.push('<file>', ...lines, '</file>')
  }
  return [...parts, '</expert>'].join('\n')
}

/** The caller's tool wins over the expert's of the same name. */
function joinTools(own: readonly Tool[], added: readonly Tool[]): Tool[] {
  const taken = new Set(own.map((tool) => tool.function.name))
  return [...own, ...added.filter((tool) => !taken.has(tool.function.name))]
}
