// The files a training or benchmark names: found in their stores, held to one version, and brought to the disk.
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { SpaceGrant } from '../base/grant.ts'
import { Problem } from '../base/problem.ts'
import type { Services } from '../contract/context.ts'
import type { Bucket, StoredFile } from '../outside/object-store/bucket.ts'
import { connectorBucket } from '../resources/connectors/connector-bucket.ts'
import { formatOf } from '../resources/connectors/file-format.ts'
import type { ConnectorTraining } from '../resources/connectors/shapes.ts'
import type { PinnedFile } from '../resources/trainings/progress-store.ts'
import type { DataFile } from '../training/data/faults.ts'
import type { Format } from '../training/data/source-file.ts'
import { DataProblem } from '../training/data-problem.ts'

export type FileServices = Pick<Services, 'db' | 'vault' | 'objects'>

const FILES_MAX = 10_000
const ASKED_AT_ONCE = 8
/** Left free on the disk for everything else that lives there. */
const ROOM_BYTES_KEPT = 256 << 20
/** Even a store that sends a byte now and then must come to an end. */
const FETCH_HOURS_MAX = 6

/** Every file the connectors name, in the version it has now. */
export async function findFiles(
  services: FileServices,
  grant: SpaceGrant,
  connectors: readonly ConnectorTraining[],
  signal: AbortSignal,
): Promise<PinnedFile[]> {
  const found: PinnedFile[] = []
  for (const { connector_id, keys } of connectors) {
    const bucket = await connectorBucket(services, grant, connector_id)
    const files =
      keys.length > 0 ? await statAll(services, bucket, keys, signal) : await listAll(services, bucket, signal)
    found.push(...files.map((file) => ({ connector_id, ...file })))
    if (found.length > FILES_MAX) throw new DataProblem(`More than ${FILES_MAX} files are named.`)
  }
  formatOfAll(found)
  return found
}

async function statAll({ objects }: FileServices, bucket: Bucket, keys: readonly string[], signal: AbortSignal) {
  const files: StoredFile[] = []
  const wanted = [...new Set(keys)]
  for (let at = 0; at < wanted.length; at += ASKED_AT_ONCE) {
    files.push(
      ...(await Promise.all(wanted.slice(at, at + ASKED_AT_ONCE).map((key) => objects.stat(bucket, key, signal)))),
    )
  }
  return files
}

async function listAll({ objects }: FileServices, bucket: Bucket, signal: AbortSignal): Promise<StoredFile[]> {
  const files: StoredFile[] = []
  for await (const page of objects.list(bucket, '', FILES_MAX + 1, signal)) files.push(...page)
  if (files.length === 0) throw new DataProblem(`There are no files below ${bucket.name}/${bucket.prefix}.`)
  return files
}

function formatOfAll(files: readonly PinnedFile[]): Format {
  const [first] = files
  if (!first) throw new DataProblem('There are no files to read: no connector is named.')
  const format = formatOf(first.key)
  for (const { key, size } of files) {
    const own = formatOf(key)
    if (!own) throw new DataProblem(`${key}: its name does not end in .csv, .tsv, .ndjson, .jsonl or .parquet.`)
    if (own !== format) throw new DataProblem(`${first.key} and ${key} are of different formats.`)
    if (size === 0) throw new DataProblem(`${key} is empty.`)
  }
  return format!
}

/** The files on the local disk, whole and in the versions they were found in. */
export async function bringFiles(
  services: FileServices,
  grant: SpaceGrant,
  files: readonly PinnedFile[],
  folder: string,
  signal: AbortSignal,
): Promise<{ files: DataFile[]; format: Format }> {
  const format = formatOfAll(files)
  await assertRoom(files, folder)
  const limit = AbortSignal.timeout(FETCH_HOURS_MAX * 3_600_000)
  const buckets = new Map<string, Bucket>()
  const brought: DataFile[] = []
  for (const [at, { connector_id, key, etag }] of files.entries()) {
    const bucket = buckets.get(connector_id) ?? (await connectorBucket(services, grant, connector_id))
    buckets.set(connector_id, bucket)
    const path = join(folder, `data-${at}`)
    const options = { expectEtag: etag, signal: AbortSignal.any([signal, limit]) }
    await services.objects.download(bucket, key, path, options).catch((error) => {
      if (limit.aborted) throw new DataProblem(`Fetching the data took longer than ${FETCH_HOURS_MAX} hours.`)
      throw error instanceof Problem && error.code === 'conflict'
        ? new DataProblem(`The file ${key} changed after it was looked up for this.`, error)
        : error
    })
    brought.push({ path, name: key })
  }
  return { files: brought, format }
}

async function assertRoom(files: readonly PinnedFile[], folder: string): Promise<void> {
  const needed = files.reduce((sum, { size }) => sum + size, 0)
  const { bavail, bsize } = await statfs(folder)
  if (needed + ROOM_BYTES_KEPT <= bavail * bsize) return
  throw new DataProblem(`The disk is full: there is no room for the ${needed} bytes of the data.`)
}
