// Where the files of checkpoints are kept (contract 2.10), whatever kind of place that is.

export interface CheckpointStore {
  /** Keeps a local file under a name: whole or not at all, and for good once this returns. */
  put(key: string, fromPath: string): Promise<void>
  /** Brings a file to the disk; fails when it is not there. */
  fetch(key: string, toPath: string): Promise<void>
  /** Removes every file whose name begins with this folder. */
  removeAll(folder: string): Promise<void>
  close(): void
}
