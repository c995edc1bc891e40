// Writes workbooks for tests, sound ones and hostile ones.
import { crc32, deflateRawSync } from 'node:zlib'

/** Members of a ZIP archive, with what is claimed of them where it is not the truth. */
export interface Member {
  readonly name: string
  readonly bytes: Buffer
  readonly claimedSize?: number
}

export function zip(members: readonly Member[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, bytes, claimedSize = bytes.length } of members) {
    const packed = deflateRawSync(bytes)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(bytes), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(claimedSize, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), fields, tail, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(entries.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, entries, end])
}

const REL = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relationships = (items: string) => Buffer.from(`<?xml version="1.0"?><Relationships>${items}</Relationships>`)

/** A workbook of one sheet, from the XML of its rows. Style 1 is a date. */
export function workbook(rows: string, { sharedTexts = '', date1904 = false } = {}): Buffer {
  return zip([
    {
      name: '_rels/.rels',
      bytes: relationships(`<Relationship Id="rId1" Type="${REL}/officeDocument" Target="xl/workbook.xml"/>`),
    },
    {
      name: 'xl/workbook.xml',
      bytes: Buffer.from(
        `<workbook><workbookPr${date1904 ? ' date1904="1"' : ''}/><sheets><sheet name="People" sheetId="1" r:id="rId1"/></sheets></workbook>`,
      ),
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      bytes: relationships(
        `<Relationship Id="rId1" Type="${REL}/worksheet" Target="worksheets/sheet1.xml"/>` +
          `<Relationship Id="rId2" Type="${REL}/styles" Target="styles.xml"/>` +
          `<Relationship Id="rId3" Type="${REL}/sharedStrings" Target="/xl/sharedStrings.xml"/>`,
      ),
    },
    { name: 'xl/worksheets/sheet1.xml', bytes: Buffer.from(`<worksheet><sheetData>${rows}</sheetData></worksheet>`) },
    {
      name: 'xl/styles.xml',
      bytes: Buffer.from('<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>'),
    },
    { name: 'xl/sharedStrings.xml', bytes: Buffer.from(`<sst>${sharedTexts}</sst>`) },
  ])
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** Rows of texts and numbers, as a spreadsheet program would write them. */
export const rowsXml = (rows: readonly (readonly (string | number | undefined)[])[]) =>
  rows
    .map((cells, row) => {
      const written = cells.map((cell, column) => {
        const at = `r="${String.fromCharCode(65 + column)}${row + 1}"`
        if (cell === undefined) return ''
        if (typeof cell === 'number') return `<c ${at}><v>${cell}</v></c>`
        return `<c ${at} t="inlineStr"><is><t>${escaped(cell)}</t></is></c>`
      })
      return `<row r="${row + 1}">${written.join('')}</row>`
    })
    .join('')
