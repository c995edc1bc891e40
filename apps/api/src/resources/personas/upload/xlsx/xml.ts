// Reads the XML inside workbooks piece by piece, and no piece of it without end.
import { SaxesParser } from 'saxes'
import { ROW_LENGTH_MAX, Unreadable } from '../fault.ts'

export type Attributes = Readonly<Record<string, string>>

/** Elements are known by their names without prefix, which each program chooses as it likes. */
export interface XmlHandler {
  open(name: string, attributes: Attributes): void
  text(text: string): void
  close(name: string): void
}

export class XmlReader {
  readonly #parser = new SaxesParser({ position: false })
  /** How much came since something was found complete: a text that never ends would be gathered until memory does. */
  #pending = 0

  constructor(handler: XmlHandler) {
    const found = <Args extends unknown[]>(handle: (...args: Args) => void) => {
      return (...args: Args) => {
        this.#pending = 0
        handle(...args)
      }
    }
    const text = found((part: string) => handler.text(part))
    this.#parser.on('text', text)
    this.#parser.on('cdata', text)
    this.#parser.on(
      'opentag',
      found(({ name, attributes }) => handler.open(localName(name), attributes as Attributes)),
    )
    this.#parser.on(
      'closetag',
      found(({ name }) => handler.close(localName(name))),
    )
    // Only a document type can make a short text mean a long one, and no workbook has any.
    this.#parser.on('doctype', () => this.#fail())
    this.#parser.on('error', () => this.#fail())
  }

  read(piece: string): void {
    this.#pending += piece.length
    this.#parser.write(piece)
    if (this.#pending > ROW_LENGTH_MAX) this.#fail()
  }

  end(): void {
    this.#parser.close()
  }

  #fail(): never {
    throw new Unreadable('The workbook holds something that is not valid XML')
  }
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1)
