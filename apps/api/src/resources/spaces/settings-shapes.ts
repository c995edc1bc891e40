// What the settings of a space look like, and what may be asked of them.
import { type Static, Type } from 'typebox'
import { named, orNull } from '../../contract/shapes.ts'
import { GUARD_STYLES } from '../../inference/guard/judge.ts'

const model = Type.String({ minLength: 1, maxLength: 256 })
const fields = {
  guard_model: model,
  guard_style: Type.Enum([...GUARD_STYLES]),
  router_model: model,
  guard_policy: Type.String({ minLength: 1, maxLength: 20_000 }),
  tokens_per_day: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  concurrent_completions: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
}

export const Settings = named(
  'SpaceSettings',
  Type.Object({ ...Type.Partial(Type.Object(fields)).properties, guard_fail_open: Type.Boolean() }),
)
export type Settings = Static<typeof Settings>

/** Null takes a setting back. */
export const SettingsChanges = named(
  'SpaceSettingsChanges',
  Type.Object(
    {
      guard_model: orNull(fields.guard_model),
      guard_style: orNull(fields.guard_style),
      router_model: orNull(fields.router_model),
      guard_policy: orNull(fields.guard_policy),
      guard_fail_open: orNull(Type.Boolean()),
      tokens_per_day: orNull(fields.tokens_per_day),
      concurrent_completions: orNull(fields.concurrent_completions),
    },
    { additionalProperties: false },
  ),
)
