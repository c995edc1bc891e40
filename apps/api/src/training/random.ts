// A small seeded generator: the same seed gives the same numbers on every machine and run.

/** xoshiro128** with its state spread from the seed by a mixing step, giving numbers in [0, 1). */
export function seededRandom(seed: number): () => number {
  let spread = seed | 0
  const mixed = () => {
    spread = (spread + 0x9e3779b9) | 0
    let z = Math.imul(spread ^ (spread >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    return z ^ (z >>> 15)
  }
  let a = mixed()
  let b = mixed()
  let c = mixed()
  let d = mixed()
  return () => {
    const x = Math.imul(b, 5)
    const drawn = Math.imul((x << 7) | (x >>> 25), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return drawn / 0x1_0000_0000
  }
}

export function shuffle(values: Uint32Array, random: () => number): void {
  for (let last = values.length - 1; last > 0; last--) {
    const chosen = Math.floor(random() * (last + 1))
    const kept = values[last]!
    values[last] = values[chosen]!
    values[chosen] = kept
  }
}
