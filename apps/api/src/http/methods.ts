// Which methods an address has, for those who come with another one. It is asked only when the router has found nothing.
import type { FastifyInstance } from 'fastify'

/** In the order in which an answer names them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Place {
  readonly parts: readonly string[]
  readonly methods: Set<string>
}

/** Notes every address that is added from here on, and tells the methods of the one a path belongs to. */
export function noteMethods(app: FastifyInstance): (path: string) => string[] {
  const places = new Map<string, Place>()
  app.addHook('onRoute', ({ url, method }) => {
    const place = places.get(url) ?? { parts: url.split('/'), methods: new Set() }
    for (const name of [method].flat()) place.methods.add(name)
    places.set(url, place)
  })
  return (path) => {
    // As for the router, a slash at the end means nothing, and fixed words come before parameters.
    const asked = path.length > 1 ? path.replace(/\/$/, '') : path
    const parts = asked.split('/')
    const place = places.get(asked) ?? [...places.values()].find((known) => isAt(known, parts))
    return METHODS.filter((method) => place?.methods.has(method))
  }
}

function isAt({ parts }: Place, asked: readonly string[]): boolean {
  const isOpen = parts.at(-1) === '*'
  if (isOpen ? asked.length < parts.length : asked.length !== parts.length) return false
  return parts.every((part, i) => part === '*' || part === asked[i] || (part.startsWith(':') && asked[i] !== ''))
}
