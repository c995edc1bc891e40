// A bounded memory of recent things: two generations, so that looking up costs one or two map reads and no bookkeeping.

export class Recent<Value> {
  readonly #perGeneration: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(sizeMax: number) {
    this.#perGeneration = Math.ceil(sizeMax / 2)
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#perGeneration && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
