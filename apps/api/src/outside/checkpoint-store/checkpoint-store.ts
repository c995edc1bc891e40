// Where the files of checkpoints are kept (contract 2.10): a folder, or a bucket of an S3 store.
import { openBucketStore } from './bucket-store.ts'
import { openFolderStore } from './folder-store.ts'

export interface CheckpointStore {
  /** Keeps a local file under a name: whole or not at all, and for good once this returns. */
  put(key: string, fromPath: string): Promise<void>
  /** Brings a file to the disk; fails when it is not there. */
  fetch(key: string, toPath: string): Promise<void>
  /** Removes every file whose name begins with this folder. */
  removeAll(folder: string): Promise<void>
  close(): void
}

export interface CheckpointStoreOptions {
  /** A path, or `s3://bucket/prefix`. */
  readonly place: string
  readonly region: string
  /** Another S3 store than AWS. */
  readonly endpoint: string | undefined
}

export function openCheckpointStore({ place, region, endpoint }: CheckpointStoreOptions): CheckpointStore {
  const s3 = /^s3:\/\/([^/]+)\/?(.*)$/.exec(place)
  if (!s3) return openFolderStore(place)
  const [, bucket = '', prefix = ''] = s3
  return openBucketStore({ bucket, prefix: prefix === '' ? '' : `${prefix.replace(/\/+$/, '')}/`, region, endpoint })
}
