// Brings one file of a store to the local disk: whole and unchanged, or not at all.
import { type FileHandle, open, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3'
import { Problem } from '../../base/problem.ts'
import { isPassing } from './store-problems.ts'

/** Opens the file from an offset on, refusing another version of it. */
export type OpenFrom = (offset: number, etag: string | undefined) => Promise<GetObjectCommandOutput>

const TRIES_WITHOUT_PROGRESS = 3
const PAUSE_MS = 250

export async function downloadTo(
  toPath: string,
  expectEtag: string | undefined,
  openFrom: OpenFrom,
  explain: (error: unknown) => Problem,
): Promise<{ size: number; etag: string }> {
  const file = await open(toPath, 'w')
  try {
    const transfer: Transfer = { file, at: 0, ...(expectEtag && { etag: expectEtag }) }
    for (let failures = 0; transfer.at !== transfer.size; ) {
      const before = transfer.at
      // Opening is tried several times by the client itself, so that a failure here is final.
      const body = await begin(transfer, openFrom).catch((error) => Promise.reject(explain(error)))
      try {
        await receive(transfer, body)
      } catch (error) {
        const problem = explain(error)
        failures = transfer.at > before ? 1 : failures + 1
        if (!isPassing(problem) || failures >= TRIES_WITHOUT_PROGRESS) throw problem
        await delay(PAUSE_MS * failures)
      }
    }
    await file.close()
    return { size: transfer.at, etag: transfer.etag ?? '' }
  } catch (error) {
    await file.close().catch(() => {})
    await rm(toPath, { force: true })
    throw error
  }
}

interface Transfer {
  readonly file: FileHandle
  at: number
  size?: number
  etag?: string
}

type Body = AsyncIterable<Uint8Array>

async function begin(transfer: Transfer, openFrom: OpenFrom): Promise<Body> {
  const { Body, ContentLength, ETag } = await openFrom(transfer.at, transfer.etag)
  if (ContentLength === undefined || ETag === undefined) {
    throw new Problem(
      'upstream_invalid',
      'The store does not say which version of the file it sends, or how long it is',
    )
  }
  transfer.size ??= ContentLength
  transfer.etag ??= ETag
  return Body as Body
}

async function receive(transfer: Transfer, body: Body): Promise<void> {
  for await (const chunk of body) {
    if (transfer.at + chunk.length > transfer.size!) {
      throw new Problem('upstream_invalid', 'The store sent more than the file has')
    }
    await transfer.file.write(chunk).catch((error) => {
      throw new Problem('internal', 'This service has no room for the file', { cause: error })
    })
    transfer.at += chunk.length
  }
  if (transfer.at < transfer.size!) throw new Error('The body ended early')
}
