// The mean of a column and the factor that makes its spread one, over some rows and leaving out what is missing.
export function standardOf(values: Float32Array | Float64Array, rows: Uint32Array): { mean: number; scale: number } {
  let largest = 0
  let sum = 0
  let count = 0
  for (let at = 0; at < rows.length; at++) {
    const value = values[rows[at]!]!
    if (Number.isNaN(value)) continue
    if (Math.abs(value) > largest) largest = Math.abs(value)
    sum += value
    count++
  }
  if (count === 0 || largest === 0) return { mean: 0, scale: 0 }
  const mean = Number.isFinite(sum) ? sum / count : 0
  let squares = 0
  // In parts of the largest, so that squares of huge or tiny numbers stay in range.
  for (let at = 0; at < rows.length; at++) {
    const value = values[rows[at]!]!
    if (!Number.isNaN(value)) squares += ((value - mean) / largest) ** 2
  }
  const scale = 1 / (Math.sqrt(squares / count) * largest)
  return { mean, scale: Number.isFinite(scale) ? scale : 0 }
}
