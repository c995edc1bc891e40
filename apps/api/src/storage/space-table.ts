// The plain statements almost every space-owned table needs, each with its audit entry in the same statement or transaction.
import type { SpaceGrant } from '../base/grant.ts'
import { newId } from '../base/ids.ts'
import { Problem } from '../base/problem.ts'
import { audit } from './audit.ts'
import { type Conflicts, conflictIn } from './conflicts.ts'
import type { Database } from './database.ts'
import { cut, olderThan } from './paging.ts'
import { countRows } from './row-counts.ts'
import type { Sql } from './sql.ts'

export interface TableOptions {
  readonly conflicts?: Conflicts
  /** Columns that never reach the audit log. */
  readonly secrets?: readonly string[]
  /** The database keeps the count of each space's rows, which are too many to be counted for every list. */
  readonly hasCount?: boolean
}

type Values<Row> = Partial<{ [K in keyof Row]: Row[K] | undefined }>

export function spaceTable<Row extends { id: string }>(name: string, noun: string, options: TableOptions = {}) {
  const { conflicts = {}, secrets = [], hasCount = false } = options
  const action = (verb: string) => `${name.replaceAll('_', '-')}.${verb}`
  const resource = name.replaceAll('_', '-')

  const orConflict = conflictIn(conflicts)
  const mine = (sql: Sql, grant: SpaceGrant) => sql`tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}`
  const found = (row: Row | undefined): Row => {
    if (!row) throw new Problem('not_found', `No such ${noun}`)
    return row
  }
  const shown = (row: Row): object =>
    Object.fromEntries(
      Object.entries(row).filter(([key]) => key !== 'tenant_id' && key !== 'space_id' && !secrets.includes(key)),
    )
  const toColumns = (sql: Sql, values: object) =>
    Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, isJson(value) ? sql.json(value as never) : (value ?? null)]),
    )

  const count = async (sql: Sql, matching: ReturnType<typeof mine>): Promise<number> => {
    const [total] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(name)} where ${matching}`
    return total!.count
  }

  return {
    /** Where `only` names columns, the rows that have these values there. */
    page(
      db: Database,
      grant: SpaceGrant,
      { limit, after }: { limit: number; after: string },
      only: Readonly<Record<string, string | undefined>> = {},
    ) {
      return db.as(grant, async (sql) => {
        const older = olderThan(sql, 'id', after)
        const wanted = Object.entries(only).filter(([, value]) => value !== undefined)
        const matching = wanted.reduce(
          (all, [column, value]) => sql`${all} and ${sql(column)} = ${value as string}`,
          mine(sql, grant),
        )
        const [rows, total] = await Promise.all([
          sql<Row[]>`select * from ${sql(name)} where ${matching} and ${older} order by id desc limit ${limit + 1}`,
          hasCount && wanted.length === 0 ? countRows(sql, grant, name) : count(sql, matching),
        ])
        return cut(rows as Row[], limit, total)
      })
    },

    numbered(db: Database, grant: SpaceGrant, { page, page_size }: { page: number; page_size: number }) {
      return db.as(grant, async (sql) => {
        const [rows, total] = await Promise.all([
          sql<Row[]>`
            select * from ${sql(name)} where ${mine(sql, grant)}
            order by id desc limit ${page_size + 1} offset ${(page - 1) * page_size}`,
          count(sql, mine(sql, grant)),
        ])
        return cut(rows as Row[], page_size, total)
      })
    },

    get(db: Database, grant: SpaceGrant, id: string): Promise<Row> {
      return db.as(grant, (sql) => this.getIn(sql, grant, id))
    },

    async getIn(sql: Sql, grant: SpaceGrant, id: string): Promise<Row> {
      const [row] = await sql<Row[]>`select * from ${sql(name)} where ${mine(sql, grant)} and id = ${id}`
      return found(row as Row | undefined)
    },

    insert(db: Database, grant: SpaceGrant, values: Values<Row>): Promise<Row> {
      return db.begin(grant, (sql) => this.insertIn(sql, grant, values))
    },

    /** The id is given where something was sealed for it before the row is there. */
    async insertIn(sql: Sql, grant: SpaceGrant, values: Values<Row>, id = newId()): Promise<Row> {
      const full = {
        ...toColumns(sql, values),
        id,
        tenant_id: grant.tenantId,
        space_id: grant.spaceId,
        created_by: grant.userId,
      }
      const [row] = await sql<Row[]>`insert into ${sql(name)} ${sql(full as never)} returning *`.catch(orConflict)
      const after = shown(found(row as Row | undefined))
      await audit(sql, grant, { action: action('create'), resource, resourceId: id, spaces: [grant.spaceId], after })
      return row as Row
    },

    update(db: Database, grant: SpaceGrant, id: string, values: Values<Row>): Promise<Row> {
      return db.begin(grant, (sql) => this.updateIn(sql, grant, id, values))
    },

    async updateIn(sql: Sql, grant: SpaceGrant, id: string, values: Values<Row>): Promise<Row> {
      const [old] = await sql<Row[]>`select * from ${sql(name)} where ${mine(sql, grant)} and id = ${id} for update`
      const before = found(old as Row | undefined)
      if (Object.keys(values).length === 0) return before
      const full = { ...toColumns(sql, values), updated_by: grant.userId, updated_at: new Date().toISOString() }
      const [row] = await sql<Row[]>`
        update ${sql(name)} set ${sql(full as never)} where ${mine(sql, grant)} and id = ${id} returning *`.catch(
        orConflict,
      )
      const after = found(row as Row | undefined)
      const entry = { before: shown(before), after: shown(after) }
      await audit(sql, grant, { action: action('update'), resource, resourceId: id, spaces: [grant.spaceId], ...entry })
      return after
    },

    remove(db: Database, grant: SpaceGrant, id: string): Promise<void> {
      return db.begin(grant, async (sql) => {
        const [row] = await sql<
          Row[]
        >`delete from ${sql(name)} where ${mine(sql, grant)} and id = ${id} returning *`.catch(orConflict)
        const before = shown(found(row as Row | undefined))
        await audit(sql, grant, { action: action('delete'), resource, resourceId: id, spaces: [grant.spaceId], before })
      })
    },
  }
}

/** Objects are stored as JSON; arrays of texts are stored as such. */
const isJson = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !(Array.isArray(value) && value.every((item) => typeof item === 'string'))
