// NDJSON, an object a line, and JSON, one array of objects: both read as they arrive, one object at a time.
import { type RawRow, type RawRows, ROW_LENGTH_MAX, Unreadable } from './fault.ts'

export async function* readNdjson(texts: AsyncIterable<string>): RawRows {
  let line = 1
  let rest = ''
  function* read(text: string): Generator<RawRow> {
    const all = rest + text
    let from = 0
    for (let end = all.indexOf('\n'); end !== -1; end = all.indexOf('\n', from)) {
      const json = all.slice(from, end)
      if (json.trim() !== '') yield toRow(json, line)
      line++
      from = end + 1
    }
    rest = all.slice(from)
    if (rest.length > ROW_LENGTH_MAX) throw tooLong(line)
  }
  yield* placed(texts, read, () => line)
  yield read('\n')
}

export async function* readJsonArray(texts: AsyncIterable<string>): RawRows {
  const splitter = new ArraySplitter()
  yield* placed(
    texts,
    (text) => splitter.read(text),
    () => splitter.line,
  )
  splitter.end()
}

/** Faults of the text itself do not know their line; the reader does. */
async function* placed(
  texts: AsyncIterable<string>,
  read: (text: string) => Iterable<RawRow>,
  line: () => number,
): RawRows {
  try {
    for await (const text of texts) yield read(text)
  } catch (error) {
    throw error instanceof Unreadable ? new Unreadable(error.message, error.line ?? line()) : error
  }
}

function toRow(json: string, line: number): RawRow {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    return { line, fault: `This is not valid JSON: ${(error as Error).message}` }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { line, fault: 'Each persona must be a JSON object' }
  }
  return { line, values: value as Record<string, unknown> }
}

const tooLong = (line: number) => new Unreadable(`The persona is longer than ${ROW_LENGTH_MAX} characters`, line)

/** What may come next, outside of the objects. */
type Expected = 'array' | 'object or end' | 'comma or end' | 'object' | 'nothing'

/** Finds where each object of the array begins and ends. What is inside is judged when it is parsed. */
class ArraySplitter {
  line = 1
  #expected: Expected = 'array'
  /** The part of the present object that has arrived, and how deep inside it the end is. */
  #object = ''
  #objectLine = 1
  #depth = 0
  #inText = false
  #escaped = false;

  *read(text: string): Generator<RawRow> {
    let start = 0
    for (let at = 0; at < text.length; at++) {
      const char = text[at]!
      if (char === '\n') this.line++
      if (this.#depth === 0) {
        if (char === '{') start = at
        this.#between(char)
      } else if (this.#isLast(char)) {
        yield toRow(this.#object + text.slice(start, at + 1), this.#objectLine)
        this.#object = ''
        this.#expected = 'comma or end'
      }
    }
    if (this.#depth > 0) this.#object += text.slice(start)
    if (this.#object.length > ROW_LENGTH_MAX) throw tooLong(this.#objectLine)
  }

  end(): void {
    if (this.#expected === 'nothing') return
    const message = this.#expected === 'array' ? 'The file holds no JSON' : 'The file ends before its array does'
    throw new Unreadable(message, this.line)
  }

  #between(char: string): void {
    if (/\s/.test(char)) return
    const expected = this.#expected
    if (expected === 'array' && char === '[') this.#expected = 'object or end'
    else if (expected === 'comma or end' && char === ',') this.#expected = 'object'
    else if (expected.endsWith('or end') && char === ']') this.#expected = 'nothing'
    else if (expected.startsWith('object') && char === '{') {
      this.#depth = 1
      this.#objectLine = this.line
    } else throw new Unreadable(`There must be an array of objects; here is ${JSON.stringify(char)}`, this.line)
  }

  /** Follows an object to its closing brace. */
  #isLast(char: string): boolean {
    if (this.#escaped) this.#escaped = false
    else if (this.#inText) {
      if (char === '"') this.#inText = false
      else if (char === '\\') this.#escaped = true
    } else if (char === '"') this.#inText = true
    else if (char === '{' || char === '[') this.#depth++
    else if (char === '}' || char === ']') this.#depth--
    return this.#depth === 0
  }
}
