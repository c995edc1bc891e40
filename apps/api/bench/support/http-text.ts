// Just enough of HTTP to see where a message ends, for programs that must cost next to nothing.

/** True once a message is all there: by its length, or by the last of its chunks. */
export function isWhole(message: string): boolean {
  const headEnd = message.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(message)
  return length ? message.length >= headEnd + 4 + Number(length[1]) : message.endsWith('\r\n0\r\n\r\n')
}
