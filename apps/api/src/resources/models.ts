// The models that a space can call (contract 2.29), in OpenAI's shape.
import { Type } from 'typebox'
import { resource } from '../contract/resource.ts'
import { named, text } from '../contract/shapes.ts'

const Model = Type.Object({ id: text, object: Type.Literal('model'), created: Type.Integer(), owned_by: text })
const ModelList = named('ModelList', Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) }))

export default [
  resource('models', 'space').list({
    summary: 'List the models that the space can call',
    result: ModelList,
    run: async ({ directory, grant, signal }) => {
      const engine = directory.engineOf(await directory.of(grant))
      return { object: 'list' as const, data: [...(await engine.models(signal))] }
    },
  }),
]
