// Uploaded bytes as text. Only UTF-8 is taken: a guess at another encoding would spoil names silently.
import { TextDecoder } from 'node:util'
import { Unreadable } from './fault.ts'

const PIECE_BYTES_MIN = 64 * 1024

/** What arrives in crumbs is handed on in pieces, so that readers look at the start of a long row only a few times. */
export async function* toText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isFirst = true
  for await (const piece of inPieces(bytes)) {
    if (isFirst) refuseOtherKinds(piece)
    isFirst = false
    yield* decode(decoder, piece, true)
  }
  if (isFirst) throw new Unreadable('The file is empty')
  yield* decode(decoder, new Uint8Array(), false)
}

function* decode(decoder: TextDecoder, piece: Uint8Array, stream: boolean): Generator<string> {
  let text: string
  try {
    text = decoder.decode(piece, { stream })
  } catch {
    // What is good comes first, so that the reader knows the line that is not.
    yield goodStart(piece)
    throw new Unreadable('This line is not UTF-8 text: save the file as UTF-8')
  }
  const nul = text.indexOf('\0')
  if (nul === -1) return yield text
  yield text.slice(0, nul)
  throw new Unreadable('This line contains a NUL character: save the file as UTF-8 text')
}

/** Whole lines only: it serves to count them. */
function goodStart(piece: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let end = 0
  for (let next = piece.indexOf(10); next !== -1; next = piece.indexOf(10, end)) {
    try {
      // The first line may begin in the middle of a character that the piece before brought.
      if (end > 0) decoder.decode(piece.subarray(end, next))
    } catch {
      break
    }
    end = next + 1
  }
  return new TextDecoder().decode(piece.subarray(0, end))
}

async function* inPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue
    gathered.push(chunk)
    size += chunk.length
    if (size < PIECE_BYTES_MIN) continue
    yield gathered.length === 1 ? chunk : Buffer.concat(gathered)
    gathered = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(gathered)
}

function refuseOtherKinds(piece: Uint8Array): void {
  const [first, second] = piece
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new Unreadable('The file is UTF-16 text: save it as UTF-8', 1)
  }
  if (first === 0x50 && second === 0x4b) {
    throw new Unreadable('The file is a ZIP archive or an Excel workbook, and its name does not end in .xlsx')
  }
}
