// Serves the plain page at the service's own address; its policy lets nothing run but the script that is in it.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

const PAGE = readFileSync(new URL('page.html', import.meta.url), 'utf8')

/** With a single tenant there is nothing to choose; of several, a stranger is not told the names. */
export function servePage(app: FastifyInstance, tenantIds: readonly string[]): void {
  const [only = '', ...others] = tenantIds
  const page = PAGE.replace('{{tenant}}', others.length === 0 ? only : '')
  const headers = {
    'content-security-policy': [
      "default-src 'none'",
      `script-src '${digestOf('script')}'`,
      `style-src '${digestOf('style')}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
  app.get('/', (_request, reply) => reply.headers(headers).type('text/html; charset=utf-8').send(page))
}

function digestOf(tag: 'script' | 'style'): string {
  const [, content = ''] = new RegExp(`<${tag}>(.*)</${tag}>`, 's').exec(PAGE) ?? []
  return `sha256-${hash('sha256', content, 'base64')}`
}
