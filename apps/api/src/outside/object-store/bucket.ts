// A place in an S3 store and the keys to it.
import type { Secret } from '../../base/secret.ts'

export interface Bucket {
  readonly name: string
  /** A folder, empty or with a slash at its end. The names of files are taken below it. */
  readonly prefix: string
  readonly region: string
  readonly accessKeyId: Secret
  readonly secretAccessKey: Secret
}

export interface StoredFile {
  /** Below the bucket's prefix. */
  readonly key: string
  readonly size: number
  /** Changes with every change of the file. */
  readonly etag: string
}
