// Reads a whole body into memory, up to a size.
import { Problem } from '../../base/problem.ts'
import { toSize } from '../../base/words.ts'

export async function readCapped(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > bytesMax) {
      body.destroy()
      throw new Problem('upstream_invalid', `The answer is larger than ${toSize(bytesMax)}`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
