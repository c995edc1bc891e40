// What tests of chat completions share: a service on a scripted model server, real sockets, and streams read to their end.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { type Play, type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts'
import { type Person, type Service, startService } from './service.ts'

export interface TalkingService extends Service {
  readonly upstream: ScriptedUpstream
  readonly space: string
  readonly ana: Person
  /** Below the space. */
  at(path: string): string
}

export async function startTalking(env: Record<string, string>, ...script: [Play, ...Play[]]): Promise<TalkingService> {
  const upstream = await scriptedUpstream(...script)
  const service = await startService({ env: { INFERENCE_URL: upstream.url, DEFAULT_MODEL: 'm', ...env } })
  const space = await service.firstSpace()
  return {
    ...service,
    upstream,
    space,
    ana: await service.signIn('ana', ['admins']),
    at: (path) => `/v1/spaces/${space}${path}`,
    close: async () => {
      await service.close()
      await upstream.close()
    },
  }
}

export const user = (content: string) => ({ role: 'user', content })

/** The data of each event, in order, and whether the end mark came. */
export function readEvents(text: string) {
  const data = text
    .split('\n\n')
    .filter((block) => block.startsWith('data: '))
    .map((block) => block.slice('data: '.length))
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
  const events = data.filter((item) => item !== '[DONE]').map((item) => JSON.parse(item) as any)
  return { events, isDone: data.at(-1) === '[DONE]', text }
}

export const wordsIn = (events: readonly { choices?: { delta: { content?: string } }[] }[]): string =>
  events.map(({ choices }) => choices?.[0]?.delta.content ?? '').join('')

/** Makes the service listen, for what can only be seen on a real connection. */
export async function listen({ app }: Service): Promise<string> {
  if (!app.server.listening) {
    app.server.listen(0, '127.0.0.1')
    await once(app.server, 'listening')
  }
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
}

export async function openStream(service: TalkingService, body: object, token = service.ana.token) {
  const url = (await listen(service)) + service.at('/chats/completions')
  const agent = new Agent()
  const response = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stream: true, ...body }),
  })
  response.body.on('error', () => {})
  return { ...response, leave: () => agent.destroy() }
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came
export async function logsOf({ ana, at, process }: TalkingService, query = ''): Promise<any[]> {
  await process.services.records.logs.flushed()
  const { body } = await ana.call('GET', at(`/logs${query}`))
  return body.data
}
