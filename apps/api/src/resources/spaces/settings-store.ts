// The row of a space's settings; a space that never changed them has none.
import type { SpaceGrant } from '../../base/grant.ts'
import type { Sql } from '../../storage/sql.ts'
import type { Settings } from './settings-shapes.ts'

const NONE: Settings = { guard_fail_open: false }

export async function readSettings(sql: Sql, grant: SpaceGrant): Promise<Settings> {
  const [row] = await sql<Settings[]>`
    select guard_model, guard_style, router_model, guard_policy, guard_fail_open, tokens_per_day, concurrent_completions
    from space_settings where tenant_id = ${grant.tenantId} and space_id = ${grant.spaceId}`
  return row ?? NONE
}

export async function writeSettings(sql: Sql, grant: SpaceGrant, settings: Settings): Promise<void> {
  const row = {
    guard_model: settings.guard_model ?? null,
    guard_style: settings.guard_style ?? null,
    router_model: settings.router_model ?? null,
    guard_policy: settings.guard_policy ?? null,
    guard_fail_open: settings.guard_fail_open,
    tokens_per_day: settings.tokens_per_day ?? null,
    concurrent_completions: settings.concurrent_completions ?? null,
    updated_at: new Date().toISOString(),
    updated_by: grant.userId,
  }
  const full = { tenant_id: grant.tenantId, space_id: grant.spaceId, ...row }
  await sql`
    insert into space_settings ${sql(full as never)}
    on conflict on constraint space_settings_pk do update set ${sql(row as never)}`
}
