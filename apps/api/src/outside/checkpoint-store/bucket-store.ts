// Checkpoints in a bucket of an S3 store, with the keys that the AWS libraries find in the environment.
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3'
import { Problem } from '../../base/problem.ts'
import type { CheckpointStore } from './checkpoint-store.ts'

export interface BucketOptions {
  readonly bucket: string
  /** Empty, or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  readonly endpoint: string | undefined
}

export function openBucketStore({ bucket, prefix, region, endpoint }: BucketOptions): CheckpointStore {
  const client = new S3Client({
    region,
    ...(endpoint && { endpoint, forcePathStyle: true }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5000, socketTimeout: 30_000 },
  })
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key })
  return {
    async put(key, fromPath) {
      // In memory, for a stream could not be sent a second time.
      const Body = await readFile(fromPath)
      await client.send(new PutObjectCommand({ ...at(key), Body })).catch(refuse)
    },
    async fetch(key, toPath) {
      const { Body } = await client.send(new GetObjectCommand(at(key))).catch(refuse)
      await pipeline(Body as Readable, createWriteStream(toPath))
    },
    async removeAll(folder) {
      for await (const page of paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: `${prefix}${folder}/` })) {
        for (const { Key } of page.Contents ?? []) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }))
      }
    },
    close: () => client.destroy(),
  }
}

/** The store is the operator's: its users are told that it failed, and the log tells how. */
function refuse(error: Error & { $metadata?: { httpStatusCode?: number } }): never {
  const cause = new Error([error.name, error.$metadata?.httpStatusCode].filter(Boolean).join(' '))
  if (error.name === 'NoSuchKey') {
    throw new Problem('not_found', 'The file of the checkpoint is not in the checkpoint store', { cause })
  }
  throw new Problem('upstream_error', 'The checkpoint store could not be reached, or refused', { cause })
}
