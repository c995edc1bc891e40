// Hands values from callbacks to an async loop in order; the end and the failure arrive after what came before them.

export class Relay<T> implements AsyncIterable<T> {
  #values: T[] = []
  #end: { readonly error?: unknown } | undefined
  #wake: (() => void) | undefined

  push(value: T): void {
    this.#values.push(value)
    this.#wake?.()
  }

  close(): void {
    this.#end ??= {}
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const values = this.#values
      this.#values = []
      yield* values
      if (this.#values.length > 0) continue
      if (this.#end) {
        if ('error' in this.#end) throw this.#end.error
        return
      }
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
  }
}
