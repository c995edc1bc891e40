// Reads settings one by one and remembers every fault, so that an operator mends them all in one go.
import { accessSync, constants, statSync } from 'node:fs'
import { getSystemErrorMessage } from 'node:util'
import { CannotStart } from '../base/cannot-start.ts'
import { isRange } from '../outside/egress/address-rules.ts'

export class Misconfigured extends CannotStart {
  override readonly name = 'Misconfigured'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n  ${faults.join('\n  ')}`,
    )
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

  /** An address that may hold a password, so a faulty one is not repeated. */
  secretUrl(name: string, schemes: readonly string[], example: string): string | undefined {
    const given = this.optional(name)
    if (given === undefined || isUrl(given, schemes)) return given
    this.fault(`${name} must be written like ${example}, special characters of the password percent-encoded`)
    return undefined
  }

  /** A file that is there and may be read. */
  file(name: string): string | undefined {
    const path = this.optional(name)
    if (path === undefined) return undefined
    try {
      accessSync(path, constants.R_OK)
      if (!statSync(path).isDirectory()) return path
      this.fault(`${name} ${path} cannot be read: it is a directory`)
    } catch (error) {
      const { errno = 0 } = error as NodeJS.ErrnoException
      this.fault(`${name} ${path} cannot be read: ${getSystemErrorMessage(errno)}`)
    }
    return undefined
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

/** Several servers may be named, with commas between them; then the first stands for all. */
const SERVERS = /^(?<scheme>\w+):\/\/(?<first>(?:[^/?#]*@)?[^/?#@,]*)(?:,[^/?#@]*)?(?<rest>.*)$/
/** URL lets it pass, but whoever decodes the password fails. */
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i

function isUrl(text: string, schemes: readonly string[]): boolean {
  const { scheme = '', first = '', rest = '' } = SERVERS.exec(text)?.groups ?? {}
  if (!schemes.includes(scheme.toLowerCase()) || first + rest === '' || BROKEN_ESCAPE.test(first)) return false
  return URL.canParse(`${scheme}://${first}${rest}`)
}
