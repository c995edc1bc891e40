// Excel workbooks: the first sheet, as a table whose first row names the columns.
import { toSize } from '../../../../base/words.ts'
import { type RawRow, type RawRows, Unreadable } from '../fault.ts'
import { readTable } from '../table.ts'
import { toDateText } from './dates.ts'
import { BadCell, readSheet } from './sheet.ts'
import { openWorkbook, type Workbook } from './workbook.ts'

/** A workbook is read from its end, so it is the one kind of file that must be there as a whole. */
const BYTES_MAX = 16 * 1024 * 1024

export async function* readXlsx(bytes: AsyncIterable<Uint8Array>): RawRows {
  const workbook = await openWorkbook(await gather(bytes))
  for await (const rows of readTable(readSheet(workbook))) {
    yield Iterator.from(rows).map((row) => toTexts(row, workbook))
  }
}

/** What is a text in a persona may be a number or a date in a sheet. */
function toTexts(row: RawRow, workbook: Workbook): RawRow {
  if (!('values' in row)) return row
  const { line } = row
  const values: Record<string, unknown> = { ...row.values }
  for (const [field, value] of Object.entries(values)) {
    if (value instanceof BadCell) return { line, field, fault: `${field} ${value.reason}` }
  }
  for (const field of ['name', 'notes']) {
    if (typeof values[field] === 'number' || typeof values[field] === 'boolean') values[field] = String(values[field])
  }
  values['notes'] ??= ''
  const { birthdate } = values
  if (typeof birthdate === 'number') values['birthdate'] = toDateText(Math.floor(birthdate), workbook.from1904)
  return { line, values }
}

async function gather(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size > BYTES_MAX) {
      throw new Unreadable(`A workbook must not be larger than ${toSize(BYTES_MAX)}: send more than that as CSV`)
    }
    chunks.push(chunk)
  }
  if (size === 0) throw new Unreadable('The file is empty')
  return Buffer.concat(chunks)
}
