// The rows of chats and of what was said in them.
import type { SpaceGrant } from '../../base/grant.ts'
import { Problem } from '../../base/problem.ts'
import type { Cursor, Page } from '../../contract/shapes.ts'
import { textOf } from '../../outside/models/engine.ts'
import { inPieces } from '../../storage/in-pieces.ts'
import { cut, olderThan } from '../../storage/paging.ts'
import { countRows } from '../../storage/row-counts.ts'
import type { Sql } from '../../storage/sql.ts'
import type { KeptMessage } from './messages.ts'
import type { LastResponse } from './shapes.ts'

export interface ChatRow {
  id: string
  name: string
  model?: string
  max_tokens?: number
  temperature?: number
  guard_enabled?: boolean
  router_enabled?: boolean
  last_response?: LastResponse
  created_at: string
  updated_at?: string
}

/** The row as the table has it: with its first turn. */
interface OpenedRow extends ChatRow {
  messages: KeptMessage[]
}

/** A chat and what was said in it, in the order it was said. */
export interface SpokenChat extends ChatRow {
  turns: number
  messages: KeptMessage[]
}

const columns = (sql: Sql) => sql`
  id, name, model, max_tokens, temperature, guard_enabled, router_enabled, last_response, created_at, updated_at, messages`
const mine = (sql: Sql, grant: SpaceGrant) => sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}`

export async function listChats(
  sql: Sql,
  grant: SpaceGrant,
  { limit, after, name }: Cursor & { name?: string | undefined },
): Promise<Page<SpokenChat>> {
  const named = name === undefined ? sql`` : sql`and strpos(lower(name), lower(${name})) > 0`
  const countNamed = async () => {
    const [total] = await sql<{ count: number }[]>`
      select count(*)::int as count from chats where ${mine(sql, grant)} ${named}`
    return total!.count
  }
  const [rows, count] = await Promise.all([
    sql<OpenedRow[]>`
      select ${columns(sql)} from chats where ${mine(sql, grant)} and ${olderThan(sql, 'id', after)} ${named}
      order by id desc limit ${limit + 1}`,
    name === undefined ? countRows(sql, grant, 'chats') : countNamed(),
  ])
  const page = cut(rows as OpenedRow[], limit, count)
  const said = await turnsOf(
    sql,
    grant,
    page.data.map(({ id }) => id),
  )
  return { ...page, data: page.data.map((row) => together(row, said.get(row.id) ?? [])) }
}

export async function getChat(sql: Sql, grant: SpaceGrant, id: string): Promise<SpokenChat> {
  const [row, said] = await Promise.all([getRow(sql, grant, id), turnsOf(sql, grant, [id])])
  return together(row, said.get(id) ?? [])
}

/** Reads no more turns than it takes to have so many messages. */
export async function getWindow(sql: Sql, grant: SpaceGrant, id: string, limit: number): Promise<SpokenChat> {
  const [row, turns] = await Promise.all([
    getRow(sql, grant, id),
    sql<{ messages: KeptMessage[]; is_first: boolean }[]>`
      select messages, is_first from (
        select id, messages, sum(message_count) over (order by id desc) - message_count as later,
          row_number() over (order by id) = 1 as is_first
        from chat_turns where ${mine(sql, grant)} and chat_id = ${id}
      ) t where later < ${limit} order by id`,
  ])
  const reachesBack = turns.length === 0 || turns[0]!.is_first
  const chat = together(
    reachesBack ? row : { ...row, messages: [] },
    turns.map(({ messages }) => messages),
  )
  return { ...chat, messages: chat.messages.slice(-limit) }
}

/** Locks the chat, so that an update sees the whole of it. */
export async function lockChat(sql: Sql, grant: SpaceGrant, id: string): Promise<void> {
  const rows = await sql`select from chats where ${mine(sql, grant)} and id = ${id} for update`
  if (rows.length === 0) throw new Problem('not_found', 'No such chat')
}

export async function updateChat(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  { last_response, ...values }: Partial<Omit<ChatRow, 'id' | 'created_at'>>,
): Promise<void> {
  const full = {
    ...values,
    ...(last_response && { last_response: sql.json(last_response as never) }),
    updated_by: grant.userId,
    updated_at: new Date().toISOString(),
  }
  await sql`update chats set ${sql(full as never)} where ${mine(sql, grant)} and id = ${id}`
}

export async function replaceMessages(
  sql: Sql,
  grant: SpaceGrant,
  id: string,
  messages: readonly KeptMessage[],
): Promise<void> {
  await sql`delete from chat_turns where ${mine(sql, grant)} and chat_id = ${id}`
  await sql`
    update chats set messages = ${sql.json(messages as never)}, last_response = null where ${mine(sql, grant)} and id = ${id}`
}

function together(row: OpenedRow, turns: readonly (readonly KeptMessage[])[]): SpokenChat {
  const opening = row.messages.length > 0 ? 1 : 0
  const messages = turns.length === 0 ? row.messages : row.messages.concat(...turns)
  const last = messages.findLast(({ role }) => role === 'assistant')
  const last_response = row.last_response ?? (last && { answer: { content: textOf(last) } })
  return { ...row, turns: opening + turns.length, messages, ...(last_response && { last_response }) }
}

async function getRow(sql: Sql, grant: SpaceGrant, id: string): Promise<OpenedRow> {
  const [row] = await sql<OpenedRow[]>`select ${columns(sql)} from chats where ${mine(sql, grant)} and id = ${id}`
  if (!row) throw new Problem('not_found', 'No such chat')
  return row
}

async function turnsOf(sql: Sql, grant: SpaceGrant, ids: readonly string[]) {
  const rows = await sql<{ chat_id: string; messages: KeptMessage[] }[]>`
    select chat_id, messages from chat_turns
    where ${mine(sql, grant)} and chat_id = any(${ids as string[]}::uuid[]) order by chat_id, id`
  return new Map(
    Map.groupBy(rows, ({ chat_id }) => chat_id)
      .entries()
      .map(([id, turns]) => [id, turns.map(({ messages }) => messages)]),
  )
}

/** The chats of a deleted space go after it. */
export async function sweepChats(system: Sql, signal: AbortSignal): Promise<void> {
  const gone = await system<{ tenant_id: string; space_id: string }[]>`
    select distinct c.tenant_id, c.space_id from row_counts c
    where c.table_name = 'chats' and not exists (
      select from spaces s where s.tenant_id = c.tenant_id and s.id = c.space_id)`
  for (const { tenant_id, space_id } of gone) {
    await inPieces(
      () => system`
        delete from chats where (tenant_id, space_id, id) in (
          select tenant_id, space_id, id from chats
          where tenant_id = ${tenant_id} and space_id = ${space_id} limit 2000 for update skip locked)`,
      signal,
    )
  }
}
