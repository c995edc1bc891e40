// The processes that serve one address together: which of them this one is, and a way to tell the others something.

export interface Siblings {
  /** This process, counted from 1. */
  readonly number: number
  readonly count: number
  /** Reaches every sibling that is there; nothing comes back, and nothing is kept for one that is not. */
  tell(topic: string, value: unknown): void
  hear(topic: string, listener: (value: never) => void): void
}

export interface Told {
  readonly topic: string
  readonly value: unknown
}

/** Told to the parent once a process answers. */
export const SERVING = 'serving'

export const alone: Siblings = { number: 1, count: 1, tell() {}, hear() {} }

/** For a child of `parent.ts`, which passes on what its children tell. */
export function siblingsByParent(number: number, count: number): Siblings {
  const listeners = new Map<string, (value: never) => void>()
  process.on('message', ({ topic, value }: Told) => listeners.get(topic)?.(value as never))
  return {
    number,
    count,
    tell(topic, value) {
      const told: Told = { topic, value }
      if (process.connected) process.send?.(told, undefined, undefined, () => {})
    },
    hear(topic, listener) {
      listeners.set(topic, listener)
    },
  }
}
