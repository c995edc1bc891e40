// Reads the names and the separator of a CSV file from its first line.
import { open } from 'node:fs/promises'
import { DataProblem } from '../data-problem.ts'
import type { DataFile } from './faults.ts'

const HEADER_BYTES_MAX = 1 << 20
const SEPARATORS = [',', ';', '\t', '|']

export interface CsvHeader {
  names: string[]
  separator: string
}

export async function readCsvHeader(file: DataFile): Promise<CsvHeader> {
  const text = await firstPart(file.path)
  if (text.trim() === '') throw new DataProblem(`${file.name} is empty.`)
  // The separator is the candidate that divides the first line into the most names.
  const readings = SEPARATORS.map((separator) => ({ separator, names: namesIn(text, separator) }))
  const best = readings.reduce((one, other) => (other.names.length > one.names.length ? other : one))
  if (best.names.includes('')) throw new DataProblem(`${file.name}: the header has a column without a name.`)
  return best
}

async function firstPart(path: string): Promise<string> {
  const handle = await open(path)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES_MAX), 0, HEADER_BYTES_MAX, 0)
    return buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '')
  } finally {
    await handle.close()
  }
}

function namesIn(text: string, separator: string): string[] {
  const names: string[] = []
  let name = ''
  let inQuotes = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') {
      // A doubled quote inside quotes stands for one quote.
      if (inQuotes && text[at + 1] === '"') name += text[at++]
      else inQuotes = !inQuotes
    } else if (inQuotes) name += character
    else if (character === '\n' || character === '\r') break
    else if (character === separator) {
      names.push(name.trim())
      name = ''
    } else name += character
  }
  return [...names, name.trim()]
}
