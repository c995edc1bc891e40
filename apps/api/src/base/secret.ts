// A value that must never be printed: logs, errors and JSON show dots; only `reveal` gives it.
import { inspect } from 'node:util'

export class Secret {
  readonly #value: string
  constructor(value: string) {
    this.#value = value
  }
  reveal(): string {
    return this.#value
  }
  toString(): string {
    return '••••'
  }
  toJSON(): string {
    return '••••'
  }
  [inspect.custom](): string {
    return '••••'
  }
}
