// Says in our own codes what went wrong at a model server: its refusals, its broken answers, its silence.
import { Problem } from '../../base/problem.ts'

/** What the server itself answered; the cause of a Problem, for those who must tell refusals apart. */
export class UpstreamRefusal extends Error {
  readonly status: number

  constructor(status: number, text: string) {
    super(`HTTP ${status}: ${text}`)
    this.name = 'UpstreamRefusal'
    this.status = status
  }
}

const SHOWN_CHARACTERS_MAX = 500

/** A refusal that concerns the request is passed on with the server's words; one that concerns us is ours to answer for. */
export function refusalProblem(status: number, body: string, retryAfterSeconds?: number): Problem {
  const said = messageIn(body)
  const parts = { cause: new UpstreamRefusal(status, body.slice(0, SHOWN_CHARACTERS_MAX)) }
  const because = said ? `: ${said}` : ''
  switch (status) {
    case 400:
    case 413:
    case 422:
      return new Problem('invalid_request', said ?? 'The model server refused the request', parts)
    case 401:
    case 403:
      return new Problem('upstream_error', "The model server does not accept this service's key", parts)
    case 404:
      if (said && /model/i.test(said)) return new Problem('model_not_found', said, { ...parts, param: 'model' })
      return new Problem('upstream_error', 'The model server has no such address; check its base URL', parts)
    case 429:
      return new Problem('upstream_rate_limited', `The model server is busy${because}`, {
        ...parts,
        retryAfterSeconds: retryAfterSeconds ?? 1,
      })
    case 504:
      return new Problem('upstream_timeout', `The model server timed out${because}`, parts)
    default:
      return new Problem('upstream_error', `The model server answered ${status}${because}`, {
        ...parts,
        ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      })
  }
}

/** An error that arrives inside an answer whose status said 200. */
export function errorInAnswer(value: unknown): Problem | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { error, object } = value as Record<string, unknown>
  if (!error && object !== 'error') return undefined
  const code = Number(((isObject(error) ? error : value) as Record<string, unknown>)['code'])
  const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : 500
  if (status !== 500) return refusalProblem(status, JSON.stringify(value))
  const said = messageIn(JSON.stringify(value)) ?? 'no reason given'
  return new Problem('upstream_error', `The model server failed: ${said}`, { cause: new UpstreamRefusal(500, said) })
}

/** OpenAI nests the message under error, SGLang leaves it flat, FastAPI calls it detail, Ollama makes error a text. */
export function messageIn(body: string): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const { error, message, detail } = value
  for (const found of [isObject(error) ? error['message'] : error, message, detail]) {
    const text = Array.isArray(found) ? found.map((item) => (isObject(item) ? item['msg'] : item)).join('; ') : found
    if (typeof text === 'string' && text.trim() !== '') return text.trim().slice(0, SHOWN_CHARACTERS_MAX)
  }
  return undefined
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
