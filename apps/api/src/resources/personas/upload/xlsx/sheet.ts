// The rows of a worksheet, read as it is unpacked: texts, numbers, dates and what formulas came to.
import { ROW_LENGTH_MAX, Unreadable } from '../fault.ts'
import { COLUMNS_MAX, type TableRow } from '../table.ts'
import { toDateText } from './dates.ts'
import type { Workbook } from './workbook.ts'
import { type Attributes, type XmlHandler, XmlReader } from './xml.ts'

/** Stands in a cell whose value cannot be had, with the reason. */
export class BadCell {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export async function* readSheet(workbook: Workbook): AsyncGenerator<Iterable<TableRow>> {
  const rows = new SheetRows(workbook)
  const reader = new XmlReader(rows)
  for await (const text of workbook.sheet) {
    reader.read(text)
    yield rows.take()
  }
  reader.end()
}

class SheetRows implements XmlHandler {
  readonly #workbook: Workbook
  #found: TableRow[] = []
  #line = 0
  /** The columns that the first row names. */
  #width = COLUMNS_MAX
  #isFirst = true
  #cells: unknown[] = []
  #column = 0
  #kind = ''
  #isDate = false
  #hasFormula = false
  #value = ''
  #hasValue = false
  #inValue = false
  #inHint = false

  constructor(workbook: Workbook) {
    this.#workbook = workbook
  }

  take(): TableRow[] {
    const found = this.#found
    this.#found = []
    return found
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'row') {
      const given = Number(attributes['r'])
      this.#line = given > this.#line ? given : this.#line + 1
      this.#cells = []
      this.#column = 0
    } else if (name === 'c') {
      const { r: reference, t: kind = 'n', s: style } = attributes
      // Behind the last column that is named, one cell is as much too many as any number of them.
      this.#column = Math.min(columnOf(reference) ?? this.#column + 1, this.#width + 1)
      this.#kind = kind
      this.#isDate = this.#workbook.dateStyles[Number(style)] ?? false
      this.#value = ''
      this.#hasValue = false
      this.#hasFormula = false
    } else if (name === 'f') this.#hasFormula = true
    else if (name === 'rPh') this.#inHint = true
    else if (name === 'v' || name === 't') {
      this.#inValue = !this.#inHint
      this.#hasValue ||= this.#inValue
    }
  }

  text(text: string): void {
    if (!this.#inValue) return
    this.#value += text
    if (this.#value.length > ROW_LENGTH_MAX) throw new Unreadable('A cell is too long', this.#line)
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#inValue = false
    else if (name === 'rPh') this.#inHint = false
    else if (name === 'c') {
      const value = this.#cellValue()
      if (value !== undefined && value !== '') this.#cells[this.#column - 1] = value
    } else if (name === 'row' && this.#cells.length > 0) this.#endRow()
  }

  #endRow(): void {
    if (this.#isFirst) {
      const bad = this.#cells.find((cell) => cell instanceof BadCell)
      if (bad) throw new Unreadable(`The name of a column ${bad.reason}`, this.#line)
      this.#width = this.#cells.length
      this.#isFirst = false
    }
    // Empty cells at the end of a row are not written.
    const cells = Array.from({ length: Math.max(this.#width, this.#cells.length) }, (_, at) => this.#cells[at])
    this.#found.push({ line: this.#line, cells })
  }

  #cellValue(): unknown {
    const value = this.#value
    if (!this.#hasValue) {
      return this.#hasFormula
        ? new BadCell('holds a formula without a result: save the file in Excel first')
        : undefined
    }
    switch (this.#kind) {
      case 's':
        if (value === '') return undefined
        return this.#workbook.sharedTexts[Number(value)] ?? new BadCell('refers to a text that is not there')
      case 'b':
        return value === '1'
      case 'e':
        return new BadCell(`holds the error ${value}`)
      case 'n': {
        const number = Number(value)
        if (value.trim() === '') return undefined
        if (Number.isNaN(number)) return new BadCell('holds a number that is none')
        return this.#isDate ? (toDateText(number, this.#workbook.from1904) ?? number) : number
      }
      default:
        return value
    }
  }
}

/** B3 is in column 2. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0]
  if (letters === undefined) return undefined
  let column = 0
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64
  return column
}
