// Work on millions of rows.

/** A transaction for each piece: nobody waits for long, and it can stop at any time. */
export async function inPieces(piece: () => PromiseLike<{ count: number }>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) if ((await piece()).count === 0) return
}
