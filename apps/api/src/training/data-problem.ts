// A fault in the data, the settings or the machine that the person who started the work can act on.
// The message is safe to show: it names files as their owner knows them and never a place on disk.
export class DataProblem extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DataProblem'
  }
}
