// What could not be stored as it came: NUL characters, halves of surrogate pairs, and nesting without end.

export interface Unstorable {
  /** Where in the value it stands, in dots; empty for the value itself. */
  readonly path: string
  readonly claim: string
}

/** Strings as they can be stored, whoever wrote them. For JSON.stringify; what needs no change costs one look. */
export function toStorableJson(value: object): string {
  const text = JSON.stringify(value)
  if (!text.includes('\\u') || !ESCAPED.test(text)) return text
  return JSON.stringify(value, (_key, item) => (typeof item === 'string' ? toStorableText(item) : item))
}

/** Either character can only stand in a JSON text as one of these. */
const ESCAPED = /\\u(0000|d[89a-f])/

export const toStorableText = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** Deeper than anyone writes by hand, and far from where it would take more stack than there is. */
export const DEPTH_MAX = 100

export function findUnstorable(value: unknown, path = '', depth = 0): Unstorable | undefined {
  if (typeof value === 'string') {
    if (value.includes('\0')) return { path, claim: 'contains a NUL character, which cannot be stored' }
    if (!value.isWellFormed()) return { path, claim: 'contains half of a surrogate pair, which is not text' }
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= DEPTH_MAX)
      return { path: path.split('.', 1)[0]!, claim: `is nested more than ${DEPTH_MAX} levels deep` }
    for (const key in value) {
      const inside = path ? `${path}.${key}` : key
      const item = (value as Record<string, unknown>)[key]
      const found = findUnstorable(key, inside) ?? findUnstorable(item, inside, depth + 1)
      if (found) return found
    }
  }
  return undefined
}
