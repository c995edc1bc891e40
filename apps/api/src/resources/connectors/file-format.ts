// The format of a stored file, which only its name tells.
import type { Format } from '../../training/data/source-file.ts'

const BY_ENDING: Record<string, Format> = {
  csv: 'csv',
  tsv: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  parquet: 'parquet',
}

export function formatOf(name: string): Format | undefined {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined
}
