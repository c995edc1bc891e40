// Remembers how far each model of each upstream can be bound to a schema.

/** From the firmest bond to the loosest. */
export const FORMATS = ['json_schema', 'json_object', 'text'] as const
export type Format = (typeof FORMATS)[number]

const ENTRIES_MAX = 1_000
/** A server may be upgraded, so what it could not do is asked again after a while. */
const KEPT_MS = 60 * 60 * 1000

export class FormatMemory {
  readonly #known = new Map<string, { readonly format: Format; readonly until: number }>()

  /** The formats worth trying, the best first. */
  worthTrying(upstream: string, model: string, nowMs: number): readonly Format[] {
    const known = this.#known.get(keyOf(upstream, model))
    return known && nowMs < known.until ? FORMATS.slice(FORMATS.indexOf(known.format)) : FORMATS
  }

  remember(upstream: string, model: string, format: Format, nowMs: number): void {
    const key = keyOf(upstream, model)
    this.#known.delete(key)
    this.#known.set(key, { format, until: nowMs + KEPT_MS })
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= ENTRIES_MAX) break
      this.#known.delete(oldest)
    }
  }
}

const keyOf = (upstream: string, model: string): string => `${upstream}\n${model}`
