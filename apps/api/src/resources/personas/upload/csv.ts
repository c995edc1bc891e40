// CSV (RFC 4180), read as it arrives: commas, quotes that may hold anything, lines that end in LF or CRLF.
import { ROW_LENGTH_MAX, Unreadable } from './fault.ts'

export interface CsvRow {
  /** Where the row begins. */
  readonly line: number
  readonly cells: readonly string[]
}

const QUOTE = 34
const COMMA = 44
const CR = 13
const LF = 10

export async function* readCsv(texts: AsyncIterable<string>): AsyncGenerator<Iterable<CsvRow>> {
  const reader = new CsvReader()
  try {
    for await (const text of texts) yield reader.read(text)
  } catch (error) {
    // Faults of the text itself do not know their line.
    throw error instanceof Unreadable ? new Unreadable(error.message, error.line ?? reader.line) : error
  }
  yield reader.end()
}

class CsvReader {
  line = 1
  #rest = '';

  *read(text: string): Generator<CsvRow> {
    const all = this.#rest + text
    let from = 0
    for (let end = all.indexOf('\n'); end !== -1; end = all.indexOf('\n', from)) {
      const line = all.slice(from, all.charCodeAt(end - 1) === CR && end > from ? end - 1 : end)
      if (line.includes('"')) {
        const found = this.#quotedRow(all, from)
        if (!found) break
        yield found.row
        from = found.next
      } else {
        if (line !== '') yield { line: this.line, cells: line.split(',') }
        this.line++
        from = end + 1
      }
    }
    this.#rest = all.slice(from)
    if (this.#rest.length > ROW_LENGTH_MAX) {
      const message = `The row is longer than ${ROW_LENGTH_MAX} characters, or a quote is never closed`
      throw new Unreadable(message, this.line)
    }
  }

  /** The last line need not end. */
  *end(): Generator<CsvRow> {
    if (this.#rest === '') return
    yield* this.read('\n')
    if (this.#rest !== '') throw new Unreadable('A quote that is opened in this row is never closed', this.line)
  }

  /** Reads one row cell by cell; nothing, when it goes on in what has not arrived yet. */
  #quotedRow(text: string, start: number): { row: CsvRow; next: number } | undefined {
    const { line } = this
    const cells: string[] = []
    let at = start
    for (;;) {
      let cell: string
      if (text.charCodeAt(at) === QUOTE) {
        const close = closingQuote(text, at + 1)
        if (close === undefined) return undefined
        cell = text.slice(at + 1, close).replaceAll('""', '"')
        at = close + 1
      } else {
        const end = endOfCell(text, at)
        if (end === undefined) return undefined
        cell = text.slice(at, end)
        at = end
      }
      cells.push(cell)
      if (text.charCodeAt(at) === CR) at++
      if (at >= text.length) return undefined
      const next = text.charCodeAt(at)
      if (next !== COMMA && next !== LF) {
        throw new Unreadable('After a closing quote comes a comma or the end of the line', line)
      }
      at++
      if (next === LF) break
    }
    this.line += countLines(text, start, at)
    return { row: { line, cells }, next: at }
  }
}

/** A quote that is doubled stands for one. The last quote that has arrived may yet turn out to be doubled. */
function closingQuote(text: string, from: number): number | undefined {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (at + 1 >= text.length) return undefined
    if (text.charCodeAt(at + 1) !== QUOTE) return at
  }
  return undefined
}

/** Where a cell without quotes ends; a quote further inside is a character like any other. */
function endOfCell(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === COMMA) return at
    if (code === LF) return at > from && text.charCodeAt(at - 1) === CR ? at - 1 : at
  }
  return undefined
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
