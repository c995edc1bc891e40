// Writes what many calls said, in one statement each for chats that begin and chats that go on.
import { recordFormat } from '../../storage/record-text.ts'
import type { Sql } from '../../storage/sql.ts'
import type { RecordKind } from '../../storage/write-buffer.ts'

/** What a call adds to a chat, by the names that the statements below know. */
export interface ChatWrite {
  readonly tenant_id: string
  readonly space_id: string
  readonly chat_id: string
  /** Of the call's log. */
  readonly id: string
  readonly name: string | undefined
  readonly model: string
  readonly by: string
  readonly at: string
  readonly message_count: number
  readonly messages: readonly object[]
  readonly last_response: object | undefined
}

const format = recordFormat({
  tenant_id: 'text',
  space_id: 'uuid',
  chat_id: 'uuid',
  id: 'uuid',
  name: 'text',
  model: 'text',
  by: 'text',
  at: 'timestamptz',
  message_count: 'int',
  messages: 'json',
  last_response: 'json',
})

/** Chats that begin. */
export const chatRecords: RecordKind = { textOf: format.textOf, insert: insertChats }
/** Chats that go on. */
export const turnRecords: RecordKind = { textOf: format.textOf, insert: insertTurns }

/**
 * What was meant for a deleted space is dropped; a space cannot go while its chats are written. To look for what is stored
 * already costs as much as to store it, so that is done for a repeat only.
 */
async function insertChats(sql: Sql, writes: readonly string[], isRepeat: boolean): Promise<void> {
  await sql`
    with given as materialized (
      select * from ${format.rows(sql, writes)} as g
    ), places as materialized (
      select s.tenant_id, s.id from spaces s
      where (s.tenant_id, s.id) in (select tenant_id, space_id from given) for key share
    )
    insert into chats (tenant_id, space_id, id, name, model, created_by, created_at, messages, last_response)
    select tenant_id, space_id, chat_id, name, model, by, at, messages, last_response
    from given g where (g.tenant_id, g.space_id) in (select tenant_id, id from places)
    ${isRepeat ? sql`on conflict do nothing` : sql``}`
}

/** Harmless to repeat, and to come late: the newest turn tells what the chat is like. What was meant for a deleted chat is dropped. */
async function insertTurns(sql: Sql, writes: readonly string[]): Promise<void> {
  await sql`
    with given as materialized (
      select * from ${format.rows(sql, writes)} as g
      where exists (
        select from chats c where c.tenant_id = g.tenant_id and c.space_id = g.space_id and c.id = g.chat_id)
    ), touched as (
      update chats c set name = coalesce(g.name, c.name), model = g.model, last_response = g.last_response,
        updated_at = g.at, updated_by = g.by
      from (
        select distinct on (tenant_id, space_id, chat_id) * from given order by tenant_id, space_id, chat_id, id desc
      ) g
      where c.tenant_id = g.tenant_id and c.space_id = g.space_id and c.id = g.chat_id
        and not exists (
          select from chat_turns t
          where t.tenant_id = g.tenant_id and t.space_id = g.space_id and t.chat_id = g.chat_id and t.id > g.id)
    )
    insert into chat_turns (tenant_id, space_id, chat_id, id, message_count, messages)
    select tenant_id, space_id, chat_id, id, message_count, messages from given
    on conflict do nothing`
}
