// Walks the whole login as a browser without scripts would: cookies, redirects, the page that asks for a user.
import { escaped } from './pages.ts'

type Fetch = (url: string, init: RequestInit) => Promise<Response>

export interface SignInRequest {
  readonly baseUrl: string
  readonly tenantId: string
  readonly user: string
  /** How addresses are fetched; tests lead those of the service into the app itself. */
  readonly fetch?: Fetch
}

const STEPS_MAX = 12

/** Answers with the parameters that the frontend receives in the fragment of its address. */
export async function signInByName({
  baseUrl,
  tenantId,
  user,
  fetch = globalThis.fetch,
}: SignInRequest): Promise<URLSearchParams> {
  const browse = withCookies(fetch)
  const start = await browse(`${baseUrl}/v1/auth/oidc/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tenant_id: tenantId }),
  })
  if (!start.ok) throw new Error(`The login cannot be started: ${await reasonOf(start)}`)
  const { auth_url } = (await start.json()) as { auth_url: string }

  let url = auth_url
  let answer = await browse(url, {})
  for (let step = 0; step < STEPS_MAX; step++) {
    const location = answer.headers.get('location')
    if (location !== null) {
      url = new URL(location, url).href
      const fragment = new URLSearchParams(new URL(url).hash.slice(1))
      if (fragment.has('access_token') || fragment.has('error')) return fragment
      answer = await browse(url, {})
      continue
    }
    const users = answer.ok ? await usersOn(answer.clone()) : []
    if (users.length === 0) {
      const { origin, pathname } = new URL(url)
      throw new Error(`The login stopped at ${origin}${pathname}: ${await reasonOf(answer)}`)
    }
    if (!users.includes(escaped(user))) throw new Error(`There is no user ${user}: choose one of ${users.join(', ')}`)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    answer = await browse(url, { method: 'POST', headers, body: new URLSearchParams({ user }).toString() })
  }
  throw new Error('The login leads in circles')
}

/** Whom the page of the development provider offers; another provider's page offers nobody. */
async function usersOn(page: Response): Promise<string[]> {
  return [...(await page.text()).matchAll(/name="user" value="([^"]+)"/g)].map(([, user = '']) => user)
}

/** The service's errors and the development provider's page have a sentence; of anything else the status has to do. */
async function reasonOf(answer: Response): Promise<string> {
  const body = await answer.text()
  if (answer.headers.get('content-type')?.includes('json')) {
    const { error } = JSON.parse(body) as { error?: { message?: string } }
    if (error?.message) return error.message
  }
  const [, title, lead] = /<h1>([^<]*)<\/h1><p>([^<]*)<\/p>/.exec(body) ?? []
  if (title !== undefined) return `${title}. ${lead}`
  return `status ${answer.status}, neither of the service nor of its development identity provider`
}

/** Keeps the cookies of each origin apart, and follows nothing by itself. */
function withCookies(fetch: Fetch): Fetch {
  const jars = new Map<string, Map<string, string>>()
  return async (url, init) => {
    const { origin } = new URL(url)
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) }
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' }).catch((cause) => {
      throw unanswered(origin, cause)
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (name !== undefined) jar.set(name, value!)
    }
    return answer
  }
}

function unanswered(origin: string, cause: Error): Error {
  const { code, message } = (cause.cause ?? cause) as NodeJS.ErrnoException
  const advice = 'start it with npm start, or say with PORT or BASE_URL where it runs'
  return new Error(`No service answers at ${origin}: ${advice} (${code ?? message})`, { cause })
}
