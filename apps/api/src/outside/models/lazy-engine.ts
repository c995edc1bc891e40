// An engine that takes time to open: opened on first use, and again after a failure, never twice at once.
import type { Engine } from './engine.ts'

export interface ClosableEngine extends Engine {
  close(): Promise<void>
}

export function lazyEngine(upstream: string, open: () => Promise<ClosableEngine>): ClosableEngine {
  let opening: Promise<ClosableEngine> | undefined
  const opened = (): Promise<ClosableEngine> => {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    return opening
  }
  return {
    upstream,
    ask: async (request, signal, onDelta) => (await opened()).ask(request, signal, onDelta),
    models: async (signal) => (await opened()).models(signal),
    close: async () => {
      const engine = await opening?.catch(() => undefined)
      await engine?.close()
    },
  }
}
