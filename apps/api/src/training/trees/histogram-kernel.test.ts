// The WebAssembly loop against the same sums in plain JavaScript.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../random.ts'
import { BINS, BLOCK, BLOCK_HISTOGRAM_BYTES, histogramKernel, PAIR_BYTES } from './histogram-kernel.ts'

for (const width of [4, 8] as const) {
  test(`each listed row is added to the bin of each of its ${width} features, and no other row`, () => {
    const rows = 500
    const stride = 24
    const memory = new WebAssembly.Memory({ initial: 4, maximum: 65_536, shared: true })
    const pairsAt = BLOCK_HISTOGRAM_BYTES
    const listAt = pairsAt + rows * PAIR_BYTES
    const binsAt = listAt + rows * 4
    const random = seededRandom(5)
    const bins = new Uint8Array(memory.buffer, binsAt, rows * stride).map(() => Math.floor(random() * BINS))
    new Uint8Array(memory.buffer, binsAt, rows * stride).set(bins)
    const pairs = new BigInt64Array(memory.buffer, pairsAt, rows * 2)
    for (let at = 0; at < pairs.length; at++) pairs[at] = BigInt(Math.floor((random() - 0.5) * 2 ** 50))
    const list = [...Array(rows).keys()].filter((row) => row % 3 !== 1)
    new Uint32Array(memory.buffer, listAt, list.length).set(list)

    histogramKernel(memory, width)(binsAt + BLOCK, stride, pairsAt, listAt, listAt + list.length * 4, 0)

    const wanted = new BigInt64Array(BLOCK_HISTOGRAM_BYTES / 8)
    for (const row of list) {
      for (let feature = 0; feature < width; feature++) {
        const place = 2 * (feature * BINS + bins[row * stride + BLOCK + feature]!)
        wanted[place]! += pairs[2 * row]!
        wanted[place + 1]! += pairs[2 * row + 1]!
      }
    }
    assert.deepEqual([...new BigInt64Array(memory.buffer, 0, wanted.length)], [...wanted])
  })
}
