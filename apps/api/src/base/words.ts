// Choices, sizes and lengths the way people see them.

/** In characters, as schemas count them; some take two places in a text. */
export function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

/** `a, b or c` */
export const either = (items: readonly string[]): string =>
  items.length > 1 ? `${items.slice(0, -1).join(', ')} or ${items.at(-1)}` : items.join('')

const UNITS: readonly [string, number][] = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
]

/** In the largest unit that gives a whole number: a limit is a limit to the byte. */
export function toSize(bytes: number): string {
  const [unit, size] = UNITS.find(([, size]) => bytes % size === 0) ?? ['bytes', 1]
  return `${bytes / size} ${unit}`
}
