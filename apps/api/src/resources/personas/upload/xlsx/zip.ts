// The little of ZIP that workbooks need: the directory, and one entry at a time, unpacked as it is read.
import { crc32, createInflateRaw } from 'node:zlib'
import { Unreadable } from '../fault.ts'

interface Entry {
  readonly method: number
  readonly crc: number
  readonly packedSize: number
  readonly size: number
  readonly offset: number
}

const END = 0x06054b50
const DIRECTORY = 0x02014b50
const LOCAL = 0x04034b50
const END_SIZE = 22
const COMMENT_SIZE_MAX = 65_535
const ENTRIES_MAX = 10_000
const STORED = 0
const DEFLATED = 8

const broken = () => new Unreadable('The workbook is damaged, or it is not a workbook')

export class Zip {
  readonly #bytes: Buffer
  readonly #entries: ReadonlyMap<string, Entry>

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    try {
      this.#entries = readDirectory(bytes)
    } catch (error) {
      // Reading past the end is how a cut-off archive shows itself.
      throw error instanceof RangeError ? broken() : error
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Sizes in the directory are claims: what counts is what comes out, and it stops at the maximum. */
  async *open(name: string, sizeMax: number): AsyncGenerator<Uint8Array> {
    const entry = this.#entries.get(name)
    if (!entry) throw broken()
    if (entry.size > sizeMax) throw tooLarge(name, sizeMax)
    let size = 0
    let crc = 0
    for await (const chunk of unpacked(entry, packedBytes(this.#bytes, entry))) {
      size += chunk.length
      if (size > sizeMax) throw tooLarge(name, sizeMax)
      crc = crc32(chunk, crc)
      yield chunk
    }
    if (crc !== entry.crc) throw broken()
  }
}

const tooLarge = (name: string, sizeMax: number) =>
  new Unreadable(`The workbook unpacks to too much: ${name} has more than ${sizeMax} bytes. Send it as CSV`)

async function* unpacked(entry: Entry, packed: Buffer): AsyncGenerator<Uint8Array> {
  if (entry.method === STORED) return yield packed
  if (entry.method !== DEFLATED) throw broken()
  const inflate = createInflateRaw({ chunkSize: 64 * 1024 })
  inflate.end(packed)
  try {
    yield* inflate
  } catch (error) {
    throw (error as { code?: string }).code?.startsWith('Z_') ? broken() : error
  }
}

function packedBytes(bytes: Buffer, { offset, packedSize }: Entry): Buffer {
  if (offset + 30 > bytes.length || bytes.readUInt32LE(offset) !== LOCAL) throw broken()
  const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
  if (start + packedSize > bytes.length) throw broken()
  return bytes.subarray(start, start + packedSize)
}

function readDirectory(bytes: Buffer): Map<string, Entry> {
  const end = findEnd(bytes)
  const count = bytes.readUInt16LE(end + 10)
  if (count > ENTRIES_MAX) throw broken()
  const entries = new Map<string, Entry>()
  let at = bytes.readUInt32LE(end + 16)
  for (let n = 0; n < count; n++) {
    if (bytes.readUInt32LE(at) !== DIRECTORY) throw broken()
    if (bytes.readUInt16LE(at + 8) & 1) throw new Unreadable('The workbook is protected by a password')
    const nameLength = bytes.readUInt16LE(at + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    entries.set(name, {
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packedSize: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
    })
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return entries
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - END_SIZE - COMMENT_SIZE_MAX)
  for (let at = bytes.length - END_SIZE; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END) return at
  }
  throw broken()
}
