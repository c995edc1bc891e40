// Sorts probabilities in nearly linear time: spread over equal ranges first, then each short range on its own.
const BUCKETS_MAX = 1 << 16
const SHORT = 24

/** The probabilities of the rows with this label, ascending. */
export function sortedScores(labels: Uint8Array, probabilities: Float64Array, label: number): Float64Array {
  const buckets = Math.max(1, Math.min(BUCKETS_MAX, labels.length >>> 1))
  const ends = new Uint32Array(buckets + 2)
  for (let row = 0; row < labels.length; row++) {
    if (labels[row] === label) ends[bucketOf(probabilities[row]!, buckets) + 1]!++
  }
  for (let bucket = 0; bucket <= buckets; bucket++) ends[bucket + 1]! += ends[bucket]!
  const sorted = new Float64Array(ends[buckets + 1]!)
  // Filling moves each start to its bucket's end.
  for (let row = 0; row < labels.length; row++) {
    if (labels[row] !== label) continue
    const score = probabilities[row]!
    sorted[ends[bucketOf(score, buckets)]!++] = score
  }
  for (let bucket = 0, start = 0; bucket <= buckets; bucket++) {
    const end = ends[bucket]!
    if (end - start > SHORT) sorted.subarray(start, end).sort()
    else if (end - start > 1) insertionSort(sorted, start, end)
    start = end
  }
  return sorted
}

const bucketOf = (score: number, buckets: number) => Math.floor(score * buckets)

function insertionSort(values: Float64Array, start: number, end: number): void {
  for (let next = start + 1; next < end; next++) {
    const value = values[next]!
    let place = next
    while (place > start && values[place - 1]! > value) {
      values[place] = values[place - 1]!
      place--
    }
    values[place] = value
  }
}
