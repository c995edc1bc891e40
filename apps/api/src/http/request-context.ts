// What an operation is given for one request: the services, the proof from the door, and the client's leaving.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../access/caller.ts'
import type { Problem } from '../base/problem.ts'
import type { Services } from '../contract/context.ts'

export interface RequestContext {
  readonly caller: Caller | undefined
  readonly onlySpace: string | undefined
  /** Ends what goes on for this request, for another reason than the client's leaving. */
  cut(reason: Problem): void
}

/** Services are inherited and not copied: there are many of them, and a request uses a few. */
export function contextMaker(
  services: Services,
  /** Of the requests under way, those that can be cut. */
  open: Set<RequestContext>,
): (request: FastifyRequest, reply: FastifyReply) => RequestContext {
  class OwnContext implements RequestContext {
    readonly requestId: string
    readonly headers: FastifyRequest['headers']
    readonly address: string
    readonly signedText: string | undefined
    readonly grant: unknown
    readonly caller: Caller | undefined
    readonly onlySpace: string | undefined
    readonly #reply: FastifyReply
    #left: AbortController | undefined

    constructor(request: FastifyRequest, reply: FastifyReply) {
      this.requestId = request.id
      this.headers = request.headers
      this.address = request.ip
      this.signedText = request.signedText
      this.grant = request.entry?.grant
      this.caller = request.entry?.caller
      this.onlySpace = request.entry?.onlySpace
      this.#reply = reply
    }

    cut(reason: Problem): void {
      this.#left?.abort(reason)
    }

    /** Most operations never ask, so nothing is set up until one does. */
    get signal(): AbortSignal {
      if (!this.#left) {
        const left = new AbortController()
        this.#left = left
        // An answer that went out whole closes too, and an error made for nobody costs more than the rest of this.
        const { raw } = this.#reply
        const leave = () => {
          open.delete(this)
          if (!raw.writableFinished) left.abort()
        }
        open.add(this)
        if (raw.destroyed) leave()
        else raw.once('close', leave)
      }
      return this.#left.signal
    }
  }
  Object.setPrototypeOf(OwnContext.prototype, services)
  return (request, reply) => new OwnContext(request, reply)
}
