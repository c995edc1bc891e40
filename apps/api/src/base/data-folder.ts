// The folder for what a service keeps on its own machine; the first start makes it.
import { accessSync, constants, mkdirSync } from 'node:fs'
import { CannotStart } from './cannot-start.ts'

export function makeDataFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { message } = cause as Error
    throw new CannotStart(
      `Cannot use the data folder ${path}: set DATA_DIR to one that can be written to (${message})`,
      {
        cause,
      },
    )
  }
}
