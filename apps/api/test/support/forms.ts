// Forms of files, written by hand so that a test can also write them wrongly.

export interface FormFile {
  readonly name: string
  readonly contents: string | Buffer
  readonly field?: string
}

const BOUNDARY = 'a boundary that no file contains'

export const FORM_TYPE = `multipart/form-data; boundary="${BOUNDARY}"`

export function form(...files: FormFile[]): Buffer {
  const parts = files.flatMap(({ name, contents, field = 'files' }) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\n\r\n`),
    Buffer.from(contents as string),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)])
}
