// An engine that keeps count of what its calls cost, whether they end or the caller leaves.
import type { Engine, Message, Usage } from '../outside/models/engine.ts'
import { addUsage, estimatedUsage, NO_USAGE } from '../outside/models/usage.ts'

export interface MeteredEngine extends Engine {
  /** Of all calls so far. For a call that was left before its end it is an estimate. */
  readonly used: Usage
}

export function metered(engine: Engine): MeteredEngine {
  let ended: Usage = NO_USAGE
  let asking: readonly Message[] | undefined
  return {
    upstream: engine.upstream,
    models: (signal) => engine.models(signal),
    get used() {
      return asking ? addUsage(ended, estimatedUsage(asking, 0)) : ended
    },
    async ask(request, signal, onDelta) {
      asking = request.messages
      try {
        const reply = await engine.ask(request, signal, onDelta)
        ended = addUsage(ended, reply.usage)
        asking = undefined
        return reply
      } catch (error) {
        // A server that refused the request cost nothing; one that was left in the middle did.
        if (!signal.aborted) asking = undefined
        throw error
      }
    },
  }
}
