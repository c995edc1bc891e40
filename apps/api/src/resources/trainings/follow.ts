// Follows a training's events as they happen, from the first to the last (contract 4.2.13).
import type { Context } from '../../contract/context.ts'
import type { Send } from '../../contract/operation.ts'
import { eventsInOrder } from './events-store.ts'
import { isFinal } from './training-state-store.ts'

/** News may be lost with a connection; so the events are read now and then without any. */
const READ_EVERY_MS = 10_000

export async function follow(context: Context<'space'>, id: string, send: Send): Promise<void> {
  const { db, grant, news, signal } = context
  const told = new Set<string>()
  while (!signal.aborted && !news.isClosed) {
    // Begun before the reading, so that nothing falls in between.
    const heard = news.next(id, READ_EVERY_MS, signal)
    const events = await db.as(grant, (sql) => eventsInOrder(sql, grant, id))
    for (const event of events) {
      if (told.has(event.id)) continue
      told.add(event.id)
      await send(event)
    }
    // A deleted training has no events left.
    if (events.length === 0 || events.some(({ status }) => isFinal(status))) return
    await heard
  }
}
