// The stored actions that a request names by id or by name, and those that are on offer when it names none.
import type { SpaceGrant } from '../../base/grant.ts'
import { isId } from '../../base/ids.ts'
import { Problem } from '../../base/problem.ts'
import type { Sql } from '../../storage/sql.ts'
import type { NamedAction } from './action-words.ts'

/** More would drown the client in the prompt. */
const OFFERED_MAX = 50
/** No text takes more of the prompt than this, however long it was stored. */
const TEXT_CHARACTERS_MAX = 1_000

const mine = (sql: Sql, grant: SpaceGrant) => sql`a.tenant_id = ${grant.tenantId} and a.space_id = ${grant.spaceId}`

const told = (sql: Sql) => {
  const texts = ['name', 'description', 'type', 'channel', 'channel_template', 'custom_insights']
  const bounded = texts.map((column) => sql`, left(a.${sql(column)}, ${TEXT_CHARACTERS_MAX}) as ${sql(column)}`)
  return sql`a.id, a.priority, a.start_date, a.end_date ${bounded}`
}

/** Those of the space that can be taken now, the most important first. */
export function readOffered(sql: Sql, grant: SpaceGrant): Promise<NamedAction[]> {
  return sql<NamedAction[]>`
    select ${told(sql)} from actions a
    where ${mine(sql, grant)} and a.status = 'active'
      and coalesce(a.start_date <= now(), true) and coalesce(a.end_date >= now(), true)
    order by array_position(array['very_high', 'high', 'medium', 'low', 'very_low'], a.priority), a.id desc
    limit ${OFFERED_MAX}`
}

/** In the order given. Words that name no stored action stay words; an id that names none is a mistake. */
export async function readNamed(
  sql: Sql,
  grant: SpaceGrant,
  given: readonly string[],
): Promise<readonly (NamedAction | string)[]> {
  const [byId, byName] = await Promise.all([
    sql<NamedAction[]>`
      select ${told(sql)} from actions a where ${mine(sql, grant)} and a.id = any(${given.filter(isId)}::uuid[])`,
    sql<(NamedAction & { position: number })[]>`
      select distinct on (w.position) w.position, ${told(sql)}
      from unnest(${given as string[]}::text[]) with ordinality as w (words, position)
      join actions a on ${mine(sql, grant)} and lower(btrim(a.name)) = lower(btrim(w.words))
      order by w.position, a.status <> 'active', a.id desc`,
  ])
  const known = new Map<string | number, NamedAction>([
    ...byName.map(({ position, ...action }) => [position, action] as const),
    ...byId.map((action) => [action.id, action] as const),
  ])
  return given.map((words, at) => {
    const action = known.get(words) ?? known.get(at + 1)
    if (action || !isId(words)) return action ?? words
    throw new Problem('invalid_reference', `There is no action ${words} in this space`, { param: `actions.${at}` })
  })
}

export async function getNamed(sql: Sql, grant: SpaceGrant, id: string): Promise<NamedAction> {
  const [action] = isId(id)
    ? await sql<NamedAction[]>`select ${told(sql)} from actions a where ${mine(sql, grant)} and a.id = ${id}`
    : []
  if (!action) throw new Problem('invalid_reference', `There is no action ${id} in this space`, { param: 'action_id' })
  return action
}
