// Persona completion (contract 4.2.12): drafts a persona from a wish, or changes one; nothing is stored.
import { Type } from 'typebox'
import { resource } from '../../contract/resource.ts'
import { freeForm, input, named, text } from '../../contract/shapes.ts'
import { personaCall, toPersona } from '../../inference/persona.ts'
import { modelName } from '../chats/shapes.ts'
import { askAndLog } from '../logs/ask-and-log.ts'

const PersonaCompletionRequest = named(
  'PersonaCompletionRequest',
  input({
    prompt: Type.Optional(Type.String({ description: 'The wish, in words' })),
    current_persona: Type.Optional(freeForm),
    history: Type.Optional(
      Type.Array(freeForm, { maxItems: 1000, description: 'What was said before; the last 20 entries are used' }),
    ),
    model: Type.Optional(modelName),
  }),
)

const PersonaCompletion = named(
  'PersonaCompletion',
  Type.Object({
    message: Type.Optional(Type.String({ description: 'What the model says about the change' })),
    persona: Type.Optional(freeForm),
    error: Type.Optional(text),
  }),
)

export const complete = resource('personas', 'space').action(
  'complete',
  'POST',
  '/completions',
)({
  summary: 'Draft a persona, or change one, from a wish',
  permission: 'personas:create',
  body: PersonaCompletionRequest,
  result: PersonaCompletion,
  run: async (context, { body }) => {
    const asked = await askAndLog(context, {
      api: 'personas.complete',
      model: body.model,
      callOn: (model) => personaCall({ ...body, model }),
    })
    return toPersona({ ...body, model: asked.reply.model }, asked)
  },
})
