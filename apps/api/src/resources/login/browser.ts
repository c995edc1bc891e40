// What tells a browser from a command line, and the cookie that ties a login to the browser which began it.
import { hash } from 'node:crypto'
import { STATE_LIFETIME_SECONDS } from '../../access/oidc/states.ts'

export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Browsers say what a request is for; those too old to do that still ask for a page. */
export function isBrowser(headers: Headers): boolean {
  if (Object.keys(headers).some((name) => name.startsWith('sec-fetch-'))) return true
  return String(headers['accept'] ?? '').includes('text/html')
}

/** Each login has a cookie of its own, so that two tabs do not spoil each other's. */
export function bindingCookie(state: string, binding: string, isSecure: boolean): string {
  return `${nameOf(state, isSecure)}=${binding}; ${attributes(isSecure)}; Max-Age=${STATE_LIFETIME_SECONDS}`
}

export const expiredCookie = (state: string, isSecure: boolean): string =>
  `${nameOf(state, isSecure)}=; ${attributes(isSecure)}; Max-Age=0`

export function bindingOf(headers: Headers, state: string, isSecure: boolean): string | undefined {
  const wanted = nameOf(state, isSecure)
  for (const pair of String(headers['cookie'] ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2)
    if (name === wanted) return value
  }
  return undefined
}

/** Over HTTPS the name itself makes browsers refuse such a cookie from anybody but this very host. */
function nameOf(state: string, isSecure: boolean): string {
  const name = `amphi-login-${hash('sha256', state, 'hex').slice(0, 16)}`
  return isSecure ? `__Host-${name}` : name
}

const attributes = (isSecure: boolean) => `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
