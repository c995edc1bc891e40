// Names of features as LightGBM's files can hold them.

/** Names LightGBM takes: it divides by spaces and refuses the signs of JSON. Made different when they would collide. */
export function safeNames(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    const plain = name.replace(/[\s",:[\]{}=]/g, '_') || '_'
    let safe = plain
    for (let copy = 1; taken.has(safe); copy++) safe = `${plain}_${copy}`
    taken.add(safe)
    return safe
  })
}
