// Joins the pieces of streamed tool calls; pieces of several calls may come interleaved and in any order.
import { randomUUID } from 'node:crypto'
import type { ToolCall, ToolCallDelta } from './engine.ts'

interface Growing {
  id: string
  name: string
  arguments: string
}

export class ToolCallJoiner {
  readonly #calls = new Map<number, Growing>()
  /** Where pieces of an index go now, for servers that give every call the same one. */
  readonly #moved = new Map<number, number>()

  /** Takes the pieces of one chunk as the server wrote them and gives them back in the port's form. */
  take(pieces: readonly unknown[]): ToolCallDelta[] {
    return pieces.filter(isObject).map((piece, position) => this.#join(piece, position))
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0
  }

  /** Calls the server left without an id get one: the caller needs it to send the result back. */
  nameTheNameless(): ToolCallDelta[] {
    const named: ToolCallDelta[] = []
    for (const [index, call] of this.#calls) {
      if (call.id) continue
      call.id = `call_${randomUUID()}`
      named.push({ index, id: call.id })
    }
    return named
  }

  joined(): ToolCall[] {
    return [...this.#calls]
      .sort(([a], [b]) => a - b)
      .map(([, { id, name, arguments: text }]) => ({ id, type: 'function', function: { name, arguments: text } }))
  }

  #join(piece: Record<string, unknown>, position: number): ToolCallDelta {
    const made = isObject(piece['function']) ? piece['function'] : {}
    const id = typeof piece['id'] === 'string' && piece['id'] !== '' ? piece['id'] : undefined
    const name = typeof made['name'] === 'string' && made['name'] !== '' ? made['name'] : undefined
    const index = Number.isInteger(piece['index'])
      ? this.#placeOf(piece['index'] as number, id, name)
      : this.#indexWithoutOne(piece, position)
    const text = argumentsText(made['arguments'])
    const call = this.#calls.get(index) ?? { id: '', name: '', arguments: '' }
    this.#calls.set(index, call)
    // Some servers repeat id and name on every piece: they are set, never appended.
    if (id) call.id = id
    if (name) call.name = name
    if (text) call.arguments += text
    const part = { ...(name !== undefined && { name }), ...(text !== undefined && { arguments: text }) }
    return { index, ...(id !== undefined && { id, type: 'function' }), function: part }
  }

  /** Another id together with a name begins another call, whatever its index. */
  #placeOf(given: number, id: string | undefined, name: string | undefined): number {
    const index = this.#moved.get(given) ?? given
    const known = this.#calls.get(index)?.id
    if (!known || !id || !name || known === id) return index
    for (const [other, call] of this.#calls) if (call.id === id) return other
    const free = Math.max(...this.#calls.keys()) + 1
    this.#moved.set(given, free)
    return free
  }

  #indexWithoutOne(piece: Record<string, unknown>, position: number): number {
    for (const [index, call] of this.#calls) if (piece['id'] && call.id === piece['id']) return index
    return piece['id'] ? this.#calls.size : position
  }
}

function argumentsText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
