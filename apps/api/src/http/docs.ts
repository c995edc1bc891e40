// The description as JSON, and as a page that loads nothing from elsewhere.
import Fastify, { type FastifyInstance } from 'fastify'

const PREFIX = '/docs'

export function serveDocs(app: FastifyInstance, description: Record<string, unknown>): void {
  const text = JSON.stringify(description)
  app.get('/v1/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text))

  // The page's script is four megabytes that most processes never show, so it is loaded when somebody first looks.
  let page: Promise<FastifyInstance> | undefined
  const serve = async (url: string) => {
    page ??= loadPage()
    return (await page).inject(url)
  }
  for (const path of [PREFIX, `${PREFIX}/*`]) {
    app.get(path, async (request, reply) => {
      const answer = await serve(request.url)
      return reply.code(answer.statusCode).headers(answer.headers).send(answer.rawPayload)
    })
  }
}

async function loadPage(): Promise<FastifyInstance> {
  const { default: apiReference } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  const configuration = {
    url: '/v1/openapi.json',
    pageTitle: 'Amphi API',
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
  }
  await app.register(apiReference, { routePrefix: PREFIX, configuration } as never)
  return app as unknown as FastifyInstance
}
