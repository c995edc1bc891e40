// Chats (contract 2.9, 4.2.3): conversations that are kept, and the completions that they grow by.
import { Type } from 'typebox'
import type { SpaceGrant } from '../../base/grant.ts'
import { resource } from '../../contract/resource.ts'
import { cursor, pageOf } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { spaceTable } from '../../storage/space-table.ts'
import type { Sql } from '../../storage/sql.ts'
import {
  type ChatRow,
  getChat,
  getWindow,
  listChats,
  lockChat,
  replaceMessages,
  type SpokenChat,
  updateChat,
} from './chats-store.ts'
import { complete } from './complete.ts'
import { toChatMessage } from './messages.ts'
import { Chat, ChatChanges } from './shapes.ts'

const chats = resource('chats', 'space')
const table = spaceTable<ChatRow>('chats', 'chat', { secrets: ['messages', 'last_response'] })

export default [
  chats.list({
    summary: 'List chats',
    query: Type.Object({
      ...cursor(10).properties,
      name: Type.Optional(Type.String({ description: 'Part of the name, in either case' })),
    }),
    result: pageOf(Chat),
    run: ({ db, grant }, { query }) =>
      db.as(grant, async (sql) => {
        const page = await listChats(sql, grant, query)
        return { ...page, data: page.data.map(toChat) }
      }),
  }),

  complete,

  chats.get({
    summary: 'Get a chat',
    result: Chat,
    run: ({ db, grant }, { id }) => db.as(grant, async (sql) => toChat(await getChat(sql, grant, id))),
  }),

  chats.action(
    'window',
    'GET',
    '/:id/window',
  )({
    summary: 'Get a chat with the last messages of its conversation',
    permission: 'chats:get',
    query: Type.Object({ limit: cursor(10).properties.limit }),
    result: Chat,
    run: ({ db, grant }, { id, query }) =>
      db.as(grant, async (sql) => toChat(await getWindow(sql, grant, id, query.limit))),
  }),

  chats.update({
    summary: 'Update a chat; messages, where given, replace all there were',
    body: ChatChanges,
    result: Chat,
    run: ({ db, grant }, { id, body: { messages, ...values } }) =>
      db.begin(grant, async (sql) => {
        await lockChat(sql, grant, id)
        if (messages) await replaceMessages(sql, grant, id, messages)
        if (messages || Object.keys(values).length > 0) {
          await updateChat(sql, grant, id, values)
          await auditUpdate(sql, grant, id, Object.keys({ ...values, ...(messages && { messages }) }))
        }
        return toChat(await getChat(sql, grant, id))
      }),
  }),

  chats.remove({
    summary: 'Delete a chat; the logs of its calls stay',
    run: ({ db, grant }, { id }) => table.remove(db, grant, id),
  }),
]

/** What people say to each other stays out of the audit log; that it was changed does not. */
const auditUpdate = (sql: Sql, grant: SpaceGrant, id: string, changed: string[]) =>
  audit(sql, grant, {
    action: 'chats.update',
    resource: 'chats',
    resourceId: id,
    spaces: [grant.spaceId],
    after: { changed },
  })

const toChat = ({ messages, turns: _, ...row }: SpokenChat): Chat => ({ ...row, messages: messages.map(toChatMessage) })
