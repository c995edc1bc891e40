// S3 stores (contract 2.12): AWS, or the store the operator names. Files are listed, read in parts and downloaded.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { GetObjectCommandInput, S3Client } from '@aws-sdk/client-s3'
import type { Egress } from '../egress/egress.ts'
import type { Bucket, StoredFile } from './bucket.ts'
import { downloadTo } from './download.ts'
import { storeProblem } from './store-problems.ts'

export interface ObjectStore {
  /** Pages of files whose names start with the prefix, in the order of their names, up to `limit` files in all. */
  list(bucket: Bucket, prefix: string, limit: number, signal: AbortSignal): AsyncIterable<StoredFile[]>
  stat(bucket: Bucket, key: string, signal: AbortSignal): Promise<StoredFile>
  /** The bytes from `start` up to, but not including, `end`. */
  readRange(bucket: Bucket, key: string, start: number, end: number, options: ReadOptions): Promise<Uint8Array>
  /** Leaves the whole file at `toPath`, or nothing. A transfer that breaks off is taken up again where it stopped. */
  download(bucket: Bucket, key: string, toPath: string, options: ReadOptions): Promise<StoredFile>
  close(): void
}

export interface ReadOptions {
  /** Fails when the file is no longer this version of itself. */
  readonly expectEtag?: string
  readonly signal: AbortSignal
}

export interface ObjectStoreOptions {
  /** Another store than AWS. The operator names it, so it is trusted; AWS is reached under the rules of egress. */
  readonly endpoint: string | undefined
  readonly egress: Egress
  readonly timings?: { readonly connectMs: number; readonly idleMs: number }
}

const TIMINGS = { connectMs: 5000, idleMs: 30_000 }
const PAGE_MAX = 1000
const TRIES_MAX = 3
const SOCKETS_MAX = 64

/** Loading the library takes longer than a tenth of a start, and many a process never meets a store. */
const library = () => import('@aws-sdk/client-s3')

export function openObjectStore({ endpoint, egress, timings = TIMINGS }: ObjectStoreOptions): ObjectStore {
  const agent = { keepAlive: true, maxSockets: SOCKETS_MAX }
  const httpAgent = new HttpAgent(agent)
  const httpsAgent = new HttpsAgent(endpoint ? agent : { ...agent, lookup: egress.lookup('https:') })
  const clients = new WeakMap<Bucket, S3Client>()

  const clientOf = async (bucket: Bucket): Promise<S3Client> => {
    const { S3Client } = await library()
    const known = clients.get(bucket)
    if (known) return known
    const client = new S3Client({
      region: bucket.region,
      credentials: { accessKeyId: bucket.accessKeyId.reveal(), secretAccessKey: bucket.secretAccessKey.reveal() },
      ...(endpoint && { endpoint, forcePathStyle: true }),
      maxAttempts: TRIES_MAX,
      // Stores other than AWS do not know the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: timings.connectMs,
        socketTimeout: timings.idleMs,
        httpAgent,
        httpsAgent,
      },
    })
    clients.set(bucket, client)
    return client
  }

  /** An abort is the caller's own doing and passes as it is; all else is put into words. */
  const attempt = async <T>(bucket: Bucket, key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      throw storeProblem(error, bucket, key)
    }
  }

  const get = async (bucket: Bucket, key: string, parts: Partial<GetObjectCommandInput>, signal: AbortSignal) => {
    const { GetObjectCommand } = await library()
    const command = new GetObjectCommand({ Bucket: bucket.name, Key: bucket.prefix + key, ...parts })
    return (await clientOf(bucket)).send(command, { abortSignal: signal })
  }

  return {
    async *list(bucket, prefix, limit, signal) {
      const { ListObjectsV2Command } = await library()
      const client = await clientOf(bucket)
      const query = { Bucket: bucket.name, Prefix: bucket.prefix + prefix }
      let left = limit
      let token: string | undefined
      do {
        const command = new ListObjectsV2Command({
          ...query,
          MaxKeys: Math.min(left, PAGE_MAX),
          ContinuationToken: token,
        })
        const page = await attempt(bucket, '', signal, () => client.send(command, { abortSignal: signal }))
        const files = (page.Contents ?? []).flatMap(({ Key = '', Size = 0, ETag = '' }) =>
          // Some tools leave an empty object to stand for a folder.
          Key.endsWith('/') ? [] : [{ key: Key.slice(bucket.prefix.length), size: Size, etag: ETag }],
        )
        if (files.length > 0) yield files
        left -= files.length
        token = page.IsTruncated ? page.NextContinuationToken : undefined
      } while (token && left > 0)
    },

    stat: (bucket, key, signal) =>
      attempt(bucket, key, signal, async () => {
        const { HeadObjectCommand } = await library()
        const command = new HeadObjectCommand({ Bucket: bucket.name, Key: bucket.prefix + key })
        const client = await clientOf(bucket)
        const { ContentLength = 0, ETag = '' } = await client.send(command, { abortSignal: signal })
        return { key, size: ContentLength, etag: ETag }
      }),

    readRange: (bucket, key, start, end, { expectEtag, signal }) =>
      attempt(bucket, key, signal, async () => {
        const range = { Range: `bytes=${start}-${end - 1}`, IfMatch: expectEtag }
        const { Body } = await get(bucket, key, range, signal)
        const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array()
        if (bytes.length !== end - start) throw new Error('The body ended early')
        return bytes
      }),

    async download(bucket, key, toPath, { expectEtag, signal }) {
      const openFrom = (offset: number, etag: string | undefined) =>
        get(bucket, key, { IfMatch: etag, ...(offset > 0 && { Range: `bytes=${offset}-` }) }, signal)
      const explain = (error: unknown) => {
        signal.throwIfAborted()
        return storeProblem(error, bucket, key)
      }
      return { key, ...(await downloadTo(toPath, expectEtag, openFrom, explain)) }
    },

    close() {
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}
