// Looks whether an address is there to listen on, before anything begins that would need it.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { CannotStart } from '../base/cannot-start.ts'

/** Processes that share an address do not notice a stranger there, so here nothing is shared. */
export async function assertFree(host: string, port: number): Promise<void> {
  // Whoever calls already must not keep the probe from closing.
  const probe = createServer((caller) => caller.destroy())
  try {
    await once(probe.listen({ host, port, exclusive: true }), 'listening')
  } catch (error) {
    throw cannotListen(error as NodeJS.ErrnoException, host, port)
  }
  probe.close()
  await once(probe, 'close')
}

/** Also for one who listens later, because the address may have been taken since. */
export function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): CannotStart {
  return new CannotStart(`${reasonOf(cause.code, host, port)} (${cause.code ?? cause.message})`, { cause })
}

function reasonOf(code: string | undefined, host: string, port: number): string {
  if (code === 'EADDRINUSE') return `PORT ${port} on ${host} is in use: stop what runs there or set PORT to another`
  if (code === 'EACCES') return `PORT ${port} is not for this user: set PORT to one above 1023`
  return `HOST ${host} is no address of this machine: set HOST to one of its own, 127.0.0.1 for itself or 0.0.0.0 for all`
}
