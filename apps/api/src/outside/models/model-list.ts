// Reads a model server's list of models into OpenAI's shape, whatever else the server adds or leaves out.
import { Problem } from '../../base/problem.ts'
import type { ModelCard } from './engine.ts'
import { errorInAnswer } from './upstream-errors.ts'

export function readModelList(text: string): ModelCard[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new Problem('upstream_invalid', 'The model server sent a list of models that is not JSON', { cause })
  }
  const error = errorInAnswer(value)
  if (error) throw error
  const data = (value as { data?: unknown } | null)?.data
  if (!Array.isArray(data)) throw new Problem('upstream_invalid', 'The model server sent no list of models')
  return data.filter(hasId).map(({ id, created, owned_by }) => ({
    id,
    object: 'model',
    created: Number.isInteger(created) ? (created as number) : 0,
    owned_by: typeof owned_by === 'string' ? owned_by : 'unknown',
  }))
}

const hasId = (value: unknown): value is { id: string; created?: unknown; owned_by?: unknown } =>
  typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'string'
