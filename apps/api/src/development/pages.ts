// The two pages of the development identity provider: whom to sign in as, and what went wrong.
import { hash } from 'node:crypto'
import type { DevelopmentUser } from './users.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: #1d2433; --soft: #667085; --line: #e3e7ee; --paper: #fff; --ground: #f5f6f9; --lit: #f0f3ff; --mark: #4453d6 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaf0; --soft: #98a2b3; --line: #2b3244; --paper: #171c28; --ground: #0f131c; --lit: #1e2540; --mark: #8e9bff }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 25rem; background: var(--paper); border: 1px solid var(--line); border-radius: 16px; padding: 2rem }
h1 { margin: 0; font-size: 1.25rem; letter-spacing: -.01em }
p { margin: .35rem 0 1.5rem; color: var(--soft); font-size: .9rem }
form { display: grid; gap: .6rem }
button { display: grid; grid-template-columns: 2.5rem 1fr; gap: 0 .9rem; align-items: center; width: 100%; padding: .8rem .9rem; border: 1px solid var(--line); border-radius: 12px; background: none; color: inherit; font: inherit; text-align: left; cursor: pointer }
button:hover, button:focus-visible { background: var(--lit); border-color: var(--mark); outline: none }
i { grid-row: 1 / 3; display: grid; place-items: center; width: 2.5rem; height: 2.5rem; border-radius: 50%; background: var(--lit); color: var(--mark); font: 600 1rem system-ui, sans-serif }
b { font-weight: 600 }
small { color: var(--soft); font-size: .8rem }
footer { margin-top: 1.5rem; color: var(--soft); font-size: .78rem }`

/** No scripts, nothing from elsewhere. Where forms lead to is left open: browsers apply that rule to every redirect after. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; frame-ancestors 'none'`,
}

export function pickPage(users: readonly DevelopmentUser[]): string {
  const choices = users.map(
    ({ id, firstName, lastName, groups }) => `
      <button name="user" value="${escaped(id)}"><i aria-hidden="true">${escaped(firstName.slice(0, 1))}</i>
        <b>${escaped(`${firstName} ${lastName}`)}</b><small>${groups.length > 0 ? `member of ${escaped(groups.join(', '))}` : 'member of no group'}</small></button>`,
  )
  return page(
    'Whom do you sign in as?',
    'Development users: no password, nothing to confirm.',
    `<form method="post">${choices.join('')}</form>`,
  )
}

export const errorPage = (message: string): string =>
  page('This sign-in cannot go on', escaped(message), '<small>Go back to where you came from and start again.</small>')

const page = (title: string, lead: string, body: string) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style>
<main><h1>${title}</h1><p>${lead}</p>${body}
<footer>This identity provider runs on this machine only, and never in production.</footer></main></html>`

export const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
