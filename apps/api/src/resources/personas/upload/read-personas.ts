// Reads the personas out of files of several kinds, and gathers what is wrong with them so that it is mended in one go.
import { extname } from 'node:path'
import { type Detail, Problem } from '../../../base/problem.ts'
import type { SentFile } from '../../../contract/files.ts'
import { readCsv } from './csv.ts'
import { type RawRow, type RawRows, Unreadable } from './fault.ts'
import { readJsonArray, readNdjson } from './json.ts'
import { type PersonaRow, toPersona } from './persona-row.ts'
import { readTable } from './table.ts'
import { toText } from './text.ts'
import { readXlsx } from './xlsx/xlsx.ts'

const FAULTS_MAX = 100
const GROUP_SIZE = 100
/** What one transaction can take in within a minute or two. */
const PERSONAS_MAX = 2_000_000

const READERS = new Map<string, (bytes: AsyncIterable<Uint8Array>) => RawRows>([
  ['.csv', (bytes) => readTable(readCsv(toText(bytes)))],
  ['.json', (bytes) => readJsonArray(toText(bytes))],
  ['.ndjson', (bytes) => readNdjson(toText(bytes))],
  ['.jsonl', (bytes) => readNdjson(toText(bytes))],
  ['.xlsx', readXlsx],
])

/** Personas come in groups, as long as nothing was wrong. In the end there are all of them, or a problem. */
export async function* readPersonas(files: AsyncIterable<SentFile>): AsyncGenerator<PersonaRow[]> {
  const faults = new Faults()
  let total = 0
  let fileCount = 0
  for await (const file of files) {
    if (file.field !== 'files') {
      throw new Problem('unknown_field', `${file.field} is not a field of this request`, { param: file.field })
    }
    fileCount++
    const before = total
    try {
      for await (const rows of readerOf(file)(file.bytes)) {
        let personas: PersonaRow[] = []
        for (const row of rows) {
          if (++total > PERSONAS_MAX) throw new Unreadable(`An upload holds at most ${PERSONAS_MAX} personas`)
          const persona = toPersonaOrFault(row, file.name, faults)
          if (persona && faults.isEmpty) personas.push(persona)
          if (personas.length < GROUP_SIZE) continue
          yield personas
          personas = []
        }
        if (faults.isEmpty && personas.length > 0) yield personas
      }
      if (total === before) throw new Unreadable('The file holds no personas')
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      faults.add(file.name, error.line, 'files', error.message)
    }
  }
  if (fileCount === 0) throw new Problem('invalid_request', 'files is required', { param: 'files' })
  faults.throwIfAny()
}

function readerOf({ name }: SentFile) {
  const reader = READERS.get(extname(name).toLowerCase())
  if (!reader) throw new Unreadable(`The name of the file must end in ${[...READERS.keys()].join(', ')}`)
  return reader
}

function toPersonaOrFault(row: RawRow, file: string, faults: Faults): PersonaRow | undefined {
  if (!('values' in row)) {
    faults.add(file, row.line, row.field ?? 'files', row.fault)
    return undefined
  }
  const persona = toPersona(row.values)
  if (!Array.isArray(persona)) return persona
  for (const { field, message } of persona) faults.add(file, row.line, field, message)
  return undefined
}

class Faults {
  readonly #details: Detail[] = []

  get isEmpty(): boolean {
    return this.#details.length === 0
  }

  /** Reading more would tell nothing new once there are this many. */
  add(file: string, line: number | undefined, param: string, message: string): void {
    const place = line === undefined ? file : `${file}, line ${line}`
    this.#details.push({ param, message: `${place}: ${message}`, file, ...(line !== undefined && { line }) })
    if (this.#details.length >= FAULTS_MAX) this.throwIfAny()
  }

  throwIfAny(): void {
    const [first] = this.#details
    if (!first) return
    const { length } = this.#details
    const more = length >= FAULTS_MAX ? `the first ${length} problems are listed` : `and ${length - 1} more`
    const message = length > 1 ? `${first.message} (${more})` : first.message
    throw new Problem('invalid_request', message, { param: first.param, details: this.#details })
  }
}
