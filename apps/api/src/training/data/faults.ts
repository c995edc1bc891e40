// Turns what the table engine says about a file into one sentence for the file's owner.
import { DataProblem } from '../data-problem.ts'

/** A file as it lies in the scratch folder, and the name its owner knows it by. */
export interface DataFile {
  path: string
  name: string
}

const KNOWN: [RegExp, string][] = [
  [/unterminated quote/i, 'a quoted value is not closed'],
  [/not utf-8 encoded|invalid unicode|invalid utf-?8/i, 'the text is not UTF-8'],
  [/maximum line size/i, 'the line is longer than 2 MB'],
  [/malformed json|expected object/i, 'this is not a JSON object on a line of its own'],
  [/duplicate/i, 'a column name is there twice, or in two spellings that differ in case only'],
  [/no magic bytes|too small to be a parquet|invalid magic/i, 'this is not a whole Parquet file'],
  [/no files found|no such file|cannot open file/i, 'the file is no longer there'],
  [/parquet|thrift|decompress|snappy|zstd|gzip|read file|corrupt|unexpected end/i, 'the file is damaged'],
]

export function readFault(file: DataFile, error: unknown): DataProblem {
  if (error instanceof DataProblem) return error
  const told = error instanceof Error ? error.message : String(error)
  if (/no space left|disk is full|max_temp_directory_size/i.test(told)) {
    return new DataProblem('The disk is full: there is no room to read the data.', error)
  }
  if (/out of memory/i.test(told)) {
    return new DataProblem(`${file.name} needs more memory to read than is allowed.`, error)
  }
  const line = lineIn(told)
  const where = line ? `${file.name}, line ${line}` : file.name
  const columns = /Expected Number of Columns: (\d+) Found: (\d+)/.exec(told)
  if (columns) return new DataProblem(`${where}: ${columns[2]} values where the header has ${columns[1]}.`, error)
  const known = KNOWN.find(([pattern]) => pattern.test(told))?.[1]
  return new DataProblem(`${where}: ${known ?? 'the file cannot be read'}.`, error)
}

// Of text that is not JSON the engine names the line after the faulty one.
function lineIn(told: string): number | undefined {
  const malformed = /at byte \d+ in line (\d+)/.exec(told)?.[1]
  if (malformed) return Number(malformed) - 1
  const line = /(?:CSV Error on Line:|, in line) (\d+)/.exec(told)?.[1]
  return line ? Number(line) : undefined
}
