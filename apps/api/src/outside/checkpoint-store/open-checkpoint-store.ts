// The place for checkpoints that the operator named: a folder, or a bucket of an S3 store.
import { openBucketStore } from './bucket-store.ts'
import type { CheckpointStore } from './checkpoint-store.ts'
import { openFolderStore } from './folder-store.ts'

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
