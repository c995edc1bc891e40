// All that a scan needs of a Parquet file stands at its end: only that part is fetched, and put where it would be.
import { open } from 'node:fs/promises'
import type { Bucket, StoredFile } from '../outside/object-store/bucket.ts'
import type { ObjectStore } from '../outside/object-store/object-store.ts'
import { DataProblem } from '../training/data-problem.ts'

const MAGIC = Buffer.from('PAR1')
/** The length of the footer and the magic after it. */
const TAIL_BYTES = 8
/** Most footers fit in the first read. */
const FIRST_READ_BYTES = 64 * 1024
const FOOTER_BYTES_MAX = 256 << 20

/** Writes a file of the same size that is empty but for the magic at its start and the footer: a hole costs no disk. */
export async function fetchFooter(
  objects: ObjectStore,
  bucket: Bucket,
  { key, size, etag }: StoredFile,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const read = (start: number, end: number) =>
    objects.readRange(bucket, key, start, end, { expectEtag: etag, signal }).then(Buffer.from)
  const firstStart = Math.max(0, size - FIRST_READ_BYTES)
  const first = await read(firstStart, size)
  if (size < MAGIC.length + TAIL_BYTES || !first.subarray(-MAGIC.length).equals(MAGIC)) {
    throw new DataProblem(`${key}: this is not a whole Parquet file.`)
  }
  const footerBytes = first.readUInt32LE(first.length - TAIL_BYTES) + TAIL_BYTES
  const start = size - footerBytes
  if (start < MAGIC.length) throw new DataProblem(`${key}: this is not a whole Parquet file.`)
  if (footerBytes > FOOTER_BYTES_MAX) throw new DataProblem(`${key}: the footer takes ${footerBytes} bytes.`)
  const footer = start < firstStart ? Buffer.concat([await read(start, firstStart), first]) : first
  const file = await open(path, 'w')
  try {
    await file.write(MAGIC, 0, MAGIC.length, 0)
    await file.write(footer, 0, footer.length, size - footer.length)
  } finally {
    await file.close()
  }
}
