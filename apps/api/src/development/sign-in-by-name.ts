// Walks the whole login as a browser without scripts would: cookies, redirects, the page that asks for a user.

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
  if (!start.ok) throw new Error(`The login cannot be started: ${await start.text()}`)
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
    } else if (answer.ok && (await answer.clone().text()).includes('name="user"')) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      answer = await browse(url, { method: 'POST', headers, body: new URLSearchParams({ user }).toString() })
    } else {
      throw new Error(`The login stopped with status ${answer.status}: ${await answer.text()}`)
    }
  }
  throw new Error('The login leads in circles')
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
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const set of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      if (name !== undefined) jar.set(name, value!)
    }
    return answer
  }
}
