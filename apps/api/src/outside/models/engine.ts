// The port to whatever runs a language model; a server over HTTP and the embedded engine stand behind it.

export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  /** Set when the model's side gave no numbers and these are ours. */
  readonly estimated?: true
}

export interface ToolCall {
  readonly id: string
  readonly type: string
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A piece of a tool call. Pieces of one call share its index. */
export interface ToolCallDelta {
  readonly index: number
  readonly id?: string
  readonly type?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

export interface Tool {
  readonly type: string
  readonly function: {
    readonly name: string
    readonly description?: string
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly strict?: boolean | null
  }
}

export interface Message {
  readonly role: string
  readonly content?: string | readonly Readonly<Record<string, unknown>>[] | null
  readonly name?: string
  readonly tool_calls?: readonly ToolCall[]
  readonly tool_call_id?: string
}

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | { readonly type: 'json_schema'; readonly json_schema: JsonSchemaFormat }

export interface JsonSchemaFormat {
  readonly name: string
  readonly schema?: object
  readonly strict?: boolean | null
}

export interface ModelRequest {
  readonly model: string
  readonly messages: readonly Message[]
  readonly max_tokens?: number | undefined
  /** The newer name of the same limit: servers differ in which one they take, so the caller's is kept. */
  readonly max_completion_tokens?: number | undefined
  readonly temperature?: number | undefined
  readonly top_p?: number | undefined
  readonly tools?: readonly Tool[] | undefined
  readonly response_format?: ResponseFormat | undefined
  /** Further OpenAI parameters, handed on as they came. They cannot replace the fields above. */
  readonly parameters?: Readonly<Record<string, unknown>> | undefined
  /** How long the whole call may take, where that is less than usual. The server is not told. */
  readonly within_ms?: number | undefined
}

/** How likely the tokens were, where the request asks for that; handed on as the server says it. */
export interface Logprobs {
  readonly content?: readonly unknown[] | null
}

export interface Delta {
  readonly content?: string
  readonly reasoning_content?: string
  readonly tool_calls?: readonly ToolCallDelta[]
  readonly logprobs?: Logprobs
}

export interface Reply {
  readonly content: string
  readonly reasoning_content?: string
  readonly tool_calls?: readonly ToolCall[]
  readonly logprobs?: Logprobs
  readonly finish_reason: string
  readonly usage: Usage
  readonly model: string
}

/** Told a piece of a reply as it comes. A promise holds the next one back until it is settled. */
export type OnDelta = (delta: Delta) => void | Promise<void>

/** A model in the shape of OpenAI's list. */
export interface ModelCard {
  readonly id: string
  readonly object: 'model'
  readonly created: number
  readonly owned_by: string
}

export interface Engine {
  /** Tells upstreams apart wherever something is remembered about one. */
  readonly upstream: string
  /** The whole reply, or a failure. Without a listener nobody reads along, and the reply may be fetched in one piece. */
  ask(request: ModelRequest, signal: AbortSignal, onDelta?: OnDelta): Promise<Reply>
  models(signal: AbortSignal): Promise<readonly ModelCard[]>
}

/** The words of a message. A part that is not text leaves its kind in brackets, so that its presence shows. */
export function textOf({ content }: Pick<Message, 'content'>): string {
  if (typeof content === 'string') return content
  if (!content) return ''
  return content.map((part) => (typeof part['text'] === 'string' ? part['text'] : kindMark(part))).join('\n')
}

export const kindMark = ({ type }: Readonly<Record<string, unknown>>): string =>
  `[${typeof type === 'string' ? type : 'part'}]`
