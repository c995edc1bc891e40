// Files as an operation receives them: one after the other, each as it arrives, never as a whole.

export interface SentFile {
  /** The field of the form that it came in. */
  readonly field: string
  /** The name the client gave it; it may be empty, and it says nothing about the contents. */
  readonly name: string
  readonly bytes: AsyncIterable<Uint8Array>
}
