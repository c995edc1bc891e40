// A workbook as far as its first sheet needs it: where the sheet is, the texts its cells share, and which cells are dates.
import { posix } from 'node:path'
import { Unreadable } from '../fault.ts'
import { toText } from '../text.ts'
import { isDateFormat } from './dates.ts'
import { type Attributes, type XmlHandler, XmlReader } from './xml.ts'
import { Zip } from './zip.ts'

export interface Workbook {
  /** The texts of the sheet's XML, as it is unpacked. */
  readonly sheet: AsyncIterable<string>
  readonly sharedTexts: readonly string[]
  /** For each style of cells, whether it shows a number as a date. */
  readonly dateStyles: readonly boolean[]
  /** Some workbooks count their days from 1904. */
  readonly from1904: boolean
}

const MIB = 1024 * 1024
const PART_BYTES_MAX = 4 * MIB
const TEXTS_BYTES_MAX = 32 * MIB
const SHEET_BYTES_MAX = 256 * MIB
/** Compound files: workbooks of before 2007, and newer ones behind a password. */
const OLD_FORMAT = Buffer.from('d0cf11e0', 'hex')

export async function openWorkbook(bytes: Buffer): Promise<Workbook> {
  if (bytes.subarray(0, 4).equals(OLD_FORMAT)) {
    throw new Unreadable(
      'The workbook is protected by a password, or it has the format of before 2007: save it as .xlsx',
    )
  }
  const zip = new Zip(bytes)
  const root = await relations(zip, '')
  const path = root.byType.get('officeDocument') ?? 'xl/workbook.xml'
  const parts = await relations(zip, path)
  const { sheetId, from1904 } = await readParts(zip, path)
  const sheet = parts.byId.get(sheetId ?? '')
  if (sheet === undefined) throw new Unreadable('The workbook has no sheet')
  const texts = parts.byType.get('sharedStrings')
  const styles = parts.byType.get('styles')
  return {
    sheet: toText(zip.open(sheet, SHEET_BYTES_MAX)),
    sharedTexts: texts === undefined ? [] : await readSharedTexts(zip, texts),
    dateStyles: styles === undefined ? [] : await readDateStyles(zip, styles),
    from1904,
  }
}

/** Which parts a part refers to, by the reference's id and by the last word of its type. */
async function relations(zip: Zip, path: string) {
  const folder = posix.dirname(path)
  const file = posix.join(folder, '_rels', `${posix.basename(path)}.rels`)
  const byId = new Map<string, string>()
  const byType = new Map<string, string>()
  if (!zip.has(file)) return { byId, byType }
  await readXml(zip, file, PART_BYTES_MAX, {
    open(name, attributes) {
      if (name !== 'Relationship') return
      const { Id = '', Type = '', Target: target = '' } = attributes
      const resolved = target.startsWith('/') ? target.slice(1) : posix.join(folder, target)
      byId.set(Id, resolved)
      byType.set(posix.basename(Type), resolved)
    },
  })
  return { byId, byType }
}

async function readParts(zip: Zip, path: string) {
  let sheetId: string | undefined
  let from1904 = false
  await readXml(zip, path, PART_BYTES_MAX, {
    open(name, attributes) {
      if (name === 'sheet') sheetId ??= referenceIn(attributes)
      if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attributes['date1904'] ?? '')
    },
  })
  return { sheetId, from1904 }
}

/** A sheet has an id of its own, and one with a prefix that refers to its part. */
const referenceIn = (attributes: Attributes) => Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1]

/** A text may be in several runs, each with its own look; hints at the pronunciation are not part of it. */
async function readSharedTexts(zip: Zip, path: string): Promise<string[]> {
  const texts: string[] = []
  let parts: string[] = []
  let inText = false
  let inHint = false
  await readXml(zip, path, TEXTS_BYTES_MAX, {
    open(name) {
      if (name === 'si') parts = []
      if (name === 'rPh') inHint = true
      if (name === 't') inText = !inHint
    },
    text(text) {
      if (inText) parts.push(text)
    },
    close(name) {
      if (name === 't') inText = false
      if (name === 'rPh') inHint = false
      if (name === 'si') texts.push(parts.join(''))
    },
  })
  return texts
}

async function readDateStyles(zip: Zip, path: string): Promise<boolean[]> {
  const own = new Map<string, string>()
  const styles: boolean[] = []
  let inCells = false
  await readXml(zip, path, PART_BYTES_MAX, {
    open(name, attributes) {
      const { numFmtId: id = '', formatCode = '' } = attributes
      if (name === 'numFmt') own.set(id, formatCode)
      if (name === 'cellXfs') inCells = true
      if (name === 'xf' && inCells) styles.push(isDateFormat(Number(id), own.get(id)))
    },
    close(name) {
      if (name === 'cellXfs') inCells = false
    },
  })
  return styles
}

async function readXml(zip: Zip, path: string, sizeMax: number, handler: Partial<XmlHandler>): Promise<void> {
  const reader = new XmlReader({ open() {}, text() {}, close() {}, ...handler })
  for await (const text of toText(zip.open(path, sizeMax))) reader.read(text)
  reader.end()
}
