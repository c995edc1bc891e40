// Reads settings one by one and remembers every fault, so that an operator mends them all in one go.
import { isRange } from '../outside/egress/address-rules.ts'

export class Misconfigured extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n  ${faults.join('\n  ')}`,
    )
    this.name = 'Misconfigured'
    this.faults = faults
  }
}

export class EnvironmentReader {
  readonly #env: NodeJS.ProcessEnv
  readonly #faults: string[] = []

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  fault(message: string): void {
    this.#faults.push(message)
  }

  finish(): void {
    if (this.#faults.length > 0) throw new Misconfigured(this.#faults)
  }

  /** A variable that is set to nothing counts as not set. */
  optional(name: string): string | undefined {
    const value = this.#env[name]?.trim()
    return value === '' ? undefined : value
  }

  text(name: string, fallback: string): string {
    return this.optional(name) ?? fallback
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const given = this.optional(name)
    if (given === undefined) return fallback
    const value = Number(given)
    if (Number.isInteger(value) && value >= min && value <= max) return value
    this.fault(`${name} must be a whole number from ${min} to ${max}, not "${given}"`)
    return fallback
  }

  oneOf<const T extends string>(name: string, values: readonly T[], fallback: T): T {
    const given = this.optional(name)
    if (given === undefined) return fallback
    const value = values.find((candidate) => candidate === given)
    if (value === undefined) this.fault(`${name} must be one of ${values.join(', ')}, not "${given}"`)
    return value ?? fallback
  }

  url(name: string, fallback: string): string {
    const given = this.optional(name)
    if (given === undefined) return fallback
    if (isHttpUrl(given)) return given.replace(/\/+$/, '')
    this.fault(`${name} must be an http:// or https:// address, not "${given}"`)
    return fallback
  }

  /** Address ranges, with commas or spaces between them. */
  ranges(name: string): string[] {
    const given = this.text(name, '')
      .split(/[\s,]+/)
      .filter((range) => range !== '')
    for (const range of given) {
      if (!isRange(range)) this.fault(`${name} must list address ranges such as 10.0.0.0/8, not "${range}"`)
    }
    return given
  }
}

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
