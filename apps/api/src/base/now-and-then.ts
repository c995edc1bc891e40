// Work in the background that comes back.

/** Does some work again and again, never twice at a time. What it gives back ends that, and waits for what is under way. */
export function nowAndThen(everyMs: number, work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  const begin = () => {
    running ??= work().finally(() => {
      running = undefined
    })
  }
  const timer = setInterval(begin, everyMs).unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
