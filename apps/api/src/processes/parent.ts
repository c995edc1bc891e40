// Keeps several processes that serve one address: starts them, starts one again that has died, and ends them in order.
//
// It accepts connections and hands them round, one to each in turn (`node:cluster`); requests never pass through it.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'
import type { Told } from './siblings.ts'

export interface Children {
  /** Resolves when all of them serve. One that ends before that has said why, and takes the others along. */
  readonly ready: Promise<void>
  stop(): Promise<void>
}

/** A process that dies as soon as it is started must not keep the machine busy. */
const START_AGAIN_AFTER_MS = 1_000

export function startChildren(
  count: number,
  environmentOf: (number: number) => Record<string, string>,
  log: Logger,
): Children {
  const children = new Map<number, Worker>()
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  let toCome = count
  let isStopping = false

  const start = (number: number): void => {
    if (isStopping) return
    const child = cluster.fork(environmentOf(number))
    children.set(number, child)
    child.on('message', (told: Told) => {
      for (const other of children.values()) if (other !== child) pass(other, told)
    })
    child.once('listening', () => {
      if (--toCome === 0) resolve()
    })
    child.once('exit', async (code, signal) => {
      children.delete(number)
      if (isStopping) return
      if (toCome > 0) {
        await stop()
        return reject(new Error(`A process ended with ${code ?? signal} before all were ready`))
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

  cluster.setupPrimary({ serialization: 'advanced' })
  for (let number = 1; number <= count; number++) start(number)
  return { ready, stop }
}

function pass(child: Worker, told: Told): void {
  if (child.isConnected()) child.send(told, undefined, () => {})
}

async function end(child: Worker): Promise<void> {
  if (child.isDead()) return
  const exit = once(child, 'exit')
  child.process.kill('SIGTERM')
  await exit
}
