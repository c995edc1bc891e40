// Login (contract 4.3): out to the identity provider and back, a fresh token, and the end of it.
import { Type } from 'typebox'
import { Problem } from '../../base/problem.ts'
import { Redirect, WithHeaders } from '../../contract/operation.ts'
import { resource } from '../../contract/resource.ts'
import { filled, input, named, text } from '../../contract/shapes.ts'
import { bindingCookie, bindingOf, expiredCookie, isBrowser } from './browser.ts'

const Token = named(
  'Token',
  Type.Object({ access_token: text, token_type: Type.Literal('Bearer'), expires_in: Type.Integer() }),
)
const Callback = Type.Object({
  code: Type.Optional(text),
  state: Type.Optional(text),
  iss: Type.Optional(text),
  error: Type.Optional(text),
  error_description: Type.Optional(text),
})

const publicly = resource('auth', 'public')
const signedIn = resource('auth', 'person')

export default [
  publicly.action(
    'login',
    'POST',
    '/oidc/login',
  )({
    summary: 'Begin to sign in: open the returned address in a browser',
    body: named('LoginRequest', input({ tenant_id: filled })),
    result: named('LoginStart', Type.Object({ auth_url: text })),
    run: async ({ signIn, address, requestId }, { body }) => {
      const { authUrl, state, binding } = await signIn.begin(body.tenant_id, address, requestId)
      const cookie = bindingCookie(state, binding, isSecure(signIn.homeUrl))
      return new WithHeaders({ auth_url: authUrl }, { 'set-cookie': cookie })
    },
  }),

  publicly.action(
    'callback',
    'GET',
    '/oidc/callback',
    303,
  )({
    summary: 'Where the identity provider sends the browser back to; leads on to the frontend with the token',
    query: Callback,
    run: async ({ signIn, headers, address, requestId }, { query }) => {
      const { state = '' } = query
      const secure = isSecure(signIn.homeUrl)
      const browser = isBrowser(headers)
      let frontendUrl = signIn.homeUrl
      try {
        const pending = await signIn.redeem(query.state, address, requestId)
        frontendUrl = pending.frontendUrl
        const binding = bindingOf(headers, state, secure)
        const token = await signIn.finish(pending, { callback: query, isBrowser: browser, binding, requestId })
        return leadTo(frontendUrl, { ...token, expires_in: String(token.expires_in) }, expiredCookie(state, secure))
      } catch (error) {
        // A person in a browser is shown what happened by the frontend; anybody else reads the error itself.
        if (!browser || !(error instanceof Problem)) throw error
        const fragment = { error: error.code, error_description: error.message, request_id: requestId }
        return leadTo(frontendUrl, fragment, expiredCookie(state, secure))
      }
    },
  }),

  signedIn.action(
    'refresh',
    'POST',
    '/refresh',
  )({
    summary: 'Get a new token of the same login, with the seats as they are now',
    result: Token,
    run: ({ logins, grant, caller }) => logins.refresh(grant, caller),
  }),

  signedIn.action(
    'logout',
    'POST',
    '/logout',
    204,
  )({
    summary: 'End the login: every token of it is void at once',
    run: ({ logins, grant, caller }) => logins.end(grant, caller),
  }),
]

/** The fragment stays in the browser: neither the frontend's server nor any log on the way sees it. */
function leadTo(frontendUrl: string, fragment: Record<string, string>, cookie: string): Redirect {
  const url = new URL(frontendUrl)
  url.hash = new URLSearchParams(fragment).toString()
  return new Redirect(url.href, { 'referrer-policy': 'no-referrer', 'set-cookie': cookie })
}

const isSecure = (url: string) => url.startsWith('https:')
