// An operation is one thing the service can do, described as data: address, permission, shapes, code.
import type { Static, TSchema } from 'typebox'
import type { Context, Scope } from './context.ts'
import type { SentFile } from './files.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** What the transport, the OpenAPI description and the tests know of an operation. */
export interface Operation {
  /** `resource.verb`: also the log label, the metric label and the OpenAPI operationId. */
  readonly id: string
  readonly resource: string
  readonly summary: string
  readonly method: Method
  /** Below `/v1`, or below the space for operations of a space. */
  readonly path: string
  /** Further paths it answers at, for clients that expect it there. */
  readonly aliases: readonly string[]
  readonly scope: Scope
  /** Absent only where the scope itself says that none is needed. */
  readonly permission: string | undefined
  readonly status: number
  readonly query: TSchema | undefined
  readonly body: TSchema | undefined
  readonly result: TSchema | undefined
  /** The body is a form of files, and the operation reads them as they arrive. */
  readonly takesFiles: boolean
  run(context: never, input: OperationInput): Promise<unknown>
}

export interface OperationInput {
  readonly id: string
  readonly query: unknown
  readonly body: unknown
  readonly files: AsyncIterable<SentFile>
}

/** What an author writes; address, permission and status come from the verb unless given here. */
export interface Spec<S extends Scope, Input, Q extends TSchema, B extends TSchema, R extends TSchema> {
  summary: string
  permission?: string
  aliases?: readonly string[]
  query?: Q
  body?: B
  result?: R
  run(context: Context<S>, input: Input & { query: Static<Q>; body: Static<B> }): Promise<Static<R> | Answer>
}

/** Answers other than a value: the transport knows these. */
export type Answer = Redirect | WithHeaders | EventStream

/** A promise holds the writer back until the reader has caught up. */
export type Send = (event: unknown) => void | Promise<void>

/** Server-sent events, written as they happen. Whoever writes them hears of the reader's leaving by the context's signal. */
export class EventStream {
  readonly write: (send: Send) => Promise<void>
  /** Sent after the last event, to say that nothing is missing; what fails or is cut off has none. */
  readonly endMark: string | undefined
  constructor(write: (send: Send) => Promise<void>, endMark?: string) {
    this.write = write
    this.endMark = endMark
  }
}

/** A value, and headers that go with it; for public operations only, since a repeated answer is kept without them. */
export class WithHeaders {
  readonly value: unknown
  readonly headers: Readonly<Record<string, string>>
  constructor(value: unknown, headers: Readonly<Record<string, string>>) {
    this.value = value
    this.headers = headers
  }
}

export class Redirect {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url
    this.headers = headers
  }
}
