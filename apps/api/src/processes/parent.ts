// Keeps several processes that serve one address: starts them, starts one again that has died, and ends them in order.
//
// Each listens by itself, and the kernel divides the connections among them (SO_REUSEPORT). So nothing passes through the
// parent, and nothing that was not yet accepted waits for a process that is gone.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Logger } from 'pino'
import { CannotStart } from '../base/cannot-start.ts'
import { SERVING, type Told } from './siblings.ts'

export interface ChildrenOptions {
  readonly count: number
  readonly program: string
  environmentOf(number: number): NodeJS.ProcessEnv
  readonly log: Logger
}

export interface Children {
  /** Resolves when all of them serve. One that ends before that has said why, and takes the others along. */
  readonly ready: Promise<void>
  stop(): Promise<void>
}

/** A process that dies as soon as it is started must not keep the machine busy. */
const START_AGAIN_AFTER_MS = 1_000

export function startChildren({ count, program, environmentOf, log }: ChildrenOptions): Children {
  const children = new Map<number, ChildProcess>()
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  let toCome = count
  let isStopping = false

  const start = (number: number): void => {
    if (isStopping) return
    const child = fork(program, { env: environmentOf(number), serialization: 'advanced' })
    children.set(number, child)
    child.on('message', (told: Told) => {
      if (told.topic === SERVING) {
        if (--toCome === 0) resolve()
        return
      }
      for (const other of children.values()) if (other !== child) pass(other, told)
    })
    child.once('exit', async (code, signal) => {
      children.delete(number)
      if (isStopping) return
      if (toCome > 0) {
        await stop()
        return reject(new CannotStart(`A process ended with ${code ?? signal} before all were ready`))
      }
      log.error({ process: number, code, signal }, 'a process has ended and is started again')
      setTimeout(() => start(number), START_AGAIN_AFTER_MS)
    })
    child.on('error', (error) => log.warn({ err: error, process: number }, 'a process cannot be reached'))
  }
  const stop = async () => {
    isStopping = true
    await Promise.all([...children.values()].map(end))
  }

  for (let number = 1; number <= count; number++) start(number)
  return { ready, stop }
}

function pass(child: ChildProcess, told: Told): void {
  if (child.connected) child.send(told, undefined, undefined, () => {})
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  await exit
}
