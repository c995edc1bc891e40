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
/** Longer ones are no names of fields. */
const PARAM_CHARACTERS_MAX = 200

/** A refusal that concerns the request is passed on with the server's words; one that concerns us is ours to answer for. */
export function refusalProblem(status: number, body: string, retryAfterSeconds?: number): Problem {
  const { said, param } = readError(body)
  const parts = { cause: new UpstreamRefusal(status, body.slice(0, SHOWN_CHARACTERS_MAX)) }
  const because = said ? `: ${said}` : ''
  switch (status) {
    case 400:
    case 413:
    case 422:
      return new Problem('invalid_request', said ?? 'The model server refused the request', { ...parts, param })
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
  const { said = 'no reason given' } = readError(JSON.stringify(value))
  return new Problem('upstream_error', `The model server failed: ${said}`, { cause: new UpstreamRefusal(500, said) })
}

interface Told {
  readonly said?: string
  /** The field of the request that is at fault. */
  readonly param?: string
}

/** OpenAI nests the message under error, SGLang leaves it flat, FastAPI calls it detail, Ollama makes error a text. */
function readError(body: string): Told {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return {}
  }
  if (!isObject(value)) return {}
  const { error, message, detail } = value
  const inner = isObject(error) ? error : value
  const said = [isObject(error) ? error['message'] : error, message, detail].map(toText).find((text) => text !== '')
  const param = inner['param']
  return {
    ...(said !== undefined && { said: said.slice(0, SHOWN_CHARACTERS_MAX) }),
    ...(typeof param === 'string' && param !== '' && param.length <= PARAM_CHARACTERS_MAX && { param }),
  }
}

function toText(found: unknown): string {
  const text = Array.isArray(found) ? found.map((item) => (isObject(item) ? item['msg'] : item)).join('; ') : found
  return typeof text === 'string' ? text.trim() : ''
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
