// The signed-in person (contract 2.19): the record, and what the person's seats give right now.
import { type Static, Type } from 'typebox'
import { holdingsOf } from '../access/escalation.ts'
import type { Context } from '../contract/context.ts'
import { resource } from '../contract/resource.ts'
import { changes, choice, input, named, text } from '../contract/shapes.ts'
import { Space } from './spaces/shapes.ts'
import { spacesById } from './spaces/spaces-store.ts'
import { findUser, saveUser } from './users-store.ts'

const editable = { first_name: text, last_name: text, role: choice('designer', 'developer') }

const User = named(
  'User',
  Type.Object({
    id: text,
    email: Type.Optional(text),
    external_id: text,
    ...changes(input(editable)).properties,
    permissions: Type.Array(text),
    spaces: Type.Array(Space),
  }),
)

const users = resource('users', 'person')

export default [
  users.action(
    'get',
    'GET',
    '/me',
  )({
    summary: 'Who you are, and what you hold',
    result: User,
    run: (context) => fullRecord(context),
  }),

  users.action(
    'update',
    'PUT',
    '/me',
  )({
    summary: 'Update your own record',
    body: named('UserChanges', changes(input(editable))),
    result: User,
    run: async (context, { body }) => {
      const { db, grant, caller } = context
      await db.begin(grant, (sql) => saveUser(sql, grant, { email: caller.email, ...body }))
      return fullRecord(context)
    },
  }),
]

async function fullRecord({ db, replica, grant, caller, onlySpace }: Context<'person'>): Promise<Static<typeof User>> {
  const { bySpace } = holdingsOf(replica.snapshot, caller, onlySpace)
  const permissions = new Set([...bySpace.values()].flatMap((held) => [...held.permissions]))
  return db.as(grant, async (sql) => {
    const [user, spaces] = await Promise.all([findUser(sql, grant), spacesById(sql, grant, [...bySpace.keys()])])
    const id = caller.userId
    return {
      email: caller.email,
      ...user,
      id,
      external_id: id,
      permissions: [...permissions].sort(),
      spaces,
    } as Static<typeof User>
  })
}
