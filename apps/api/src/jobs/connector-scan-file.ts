// Brings as much of a stored file to the disk as its format needs, and has it looked through.
import { rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Bucket, StoredFile } from '../outside/object-store/bucket.ts'
import type { ObjectStore } from '../outside/object-store/object-store.ts'
import { formatOf } from '../resources/connectors/file-format.ts'
import { DataProblem } from '../training/data-problem.ts'
import { type Findings, inspect } from './connector-inspect.ts'
import { fetchFooter } from './connector-parquet-footer.ts'

/** Left free on the disk for everything else that lives there. */
const ROOM_BYTES_KEPT = 1 << 30

export async function scanStoredFile(
  objects: ObjectStore,
  bucket: Bucket,
  name: string,
  path: string,
  signal: AbortSignal,
): Promise<Findings> {
  const format = formatOf(name)
  if (!format) throw new DataProblem(`${name}: its name does not end in .csv, .tsv, .ndjson, .jsonl or .parquet.`)
  const file = await objects.stat(bucket, name, signal)
  if (file.size === 0) throw new DataProblem(`${name} is empty.`)
  try {
    if (format === 'parquet') await fetchFooter(objects, bucket, file, path, signal)
    else {
      await assertRoom(file, path)
      await objects.download(bucket, name, path, { expectEtag: file.etag, signal })
    }
    return await inspect({ path, name, format }, signal)
  } finally {
    await rm(path, { force: true })
  }
}

async function assertRoom({ key, size }: StoredFile, path: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(path))
  if (size + ROOM_BYTES_KEPT > bavail * bsize) {
    throw new DataProblem(`${key} is too large to be looked through: there is no room for its ${size} bytes.`)
  }
}
