// Settings of a space (contract 2.26): which models guard and route, and how much the space may use.
import { resource } from '../../contract/resource.ts'
import { audit } from '../../storage/audit.ts'
import { Settings, SettingsChanges } from './settings-shapes.ts'
import { readSettings, writeSettings } from './settings-store.ts'
import { lockSpace } from './spaces-store.ts'

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
        await lockSpace(sql, grant)
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
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined)
  return { guard_fail_open: false, ...Object.fromEntries(given) }
}
