// Settings of a space (contract 2.26): which models guard and route, and how much the space may use.
import { type Static, Type } from 'typebox'
import { resource } from '../../contract/resource.ts'
import { named } from '../../contract/shapes.ts'
import { audit } from '../../storage/audit.ts'
import { readSettings, writeSettings } from './settings-store.ts'
import { getSpace } from './spaces-store.ts'

const model = Type.String({ minLength: 1, maxLength: 128 })
const fields = {
  guard_model: model,
  router_model: model,
  guard_policy: Type.String({ minLength: 1, maxLength: 20_000 }),
  tokens_per_day: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  concurrent_completions: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
}

const Settings = named(
  'SpaceSettings',
  Type.Object({ ...Type.Partial(Type.Object(fields)).properties, guard_fail_open: Type.Boolean() }),
)
export type Settings = Static<typeof Settings>

const orNull = <T extends Type.TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))
/** Null takes a setting back. */
const SettingsChanges = named(
  'SpaceSettingsChanges',
  Type.Object(
    {
      guard_model: orNull(fields.guard_model),
      router_model: orNull(fields.router_model),
      guard_policy: orNull(fields.guard_policy),
      guard_fail_open: Type.Optional(Type.Boolean()),
      tokens_per_day: orNull(fields.tokens_per_day),
      concurrent_completions: orNull(fields.concurrent_completions),
    },
    { additionalProperties: false },
  ),
)

const space = resource('spaces', 'own-space')

export default [
  space.action(
    'get-settings',
    'GET',
    '/settings',
  )({
    summary: 'Get the settings of a space',
    permission: 'spaces:update',
    result: Settings,
    run: ({ db, grant }) => db.as(grant, (sql) => readSettings(sql, grant)),
  }),

  space.action(
    'update-settings',
    'PUT',
    '/settings',
  )({
    summary: 'Update the settings of a space: only what is given changes, and null takes a setting back',
    permission: 'spaces:update',
    body: SettingsChanges,
    result: Settings,
    run: async ({ db, grant, directory }, { id, body }) => {
      const settings = await db.begin(grant, async (sql) => {
        await getSpace(sql, grant)
        const before = await readSettings(sql, grant)
        if (Object.keys(body).length === 0) return before
        const after = withoutNull({ ...before, ...body })
        await writeSettings(sql, grant, after)
        const entry = { before: withoutNull(before), after }
        await audit(sql, grant, {
          action: 'spaces.update-settings',
          resource: 'spaces',
          resourceId: id,
          spaces: [id],
          ...entry,
        })
        return after
      })
      directory.forget(grant.tenantId, grant.spaceId)
      return settings
    },
  }),
]

function withoutNull(values: object): Settings {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as unknown as Settings
}
