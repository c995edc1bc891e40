// The one way out to addresses that users supply: each name is resolved once, judged, and the judged address is called.
import type { LookupAddress } from 'node:dns'
import { lookup as resolveName } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { Problem } from '../../base/problem.ts'
import { addressJudge } from './address-rules.ts'
import { readCapped } from './capped-body.ts'

export type Protocol = 'http:' | 'https:'

export interface EgressOptions {
  /** Ranges that the operator opened, such as 10.0.0.0/8. */
  readonly allow: readonly string[]
  readonly production: boolean
  /** Where names are looked up, if not where this machine does. */
  readonly resolve?: (name: string) => Promise<LookupAddress[]>
}

export interface Egress {
  /** For calls that stream or take long; whoever uses it sets the limits. It follows no redirects. */
  readonly dispatcher: Dispatcher
  /** For agents of node:http and node:https. */
  lookup(protocol: Protocol): LookupFunction
  /** A short call: five seconds and one mebibyte at most, no redirects followed. */
  fetch(url: string, init?: ShortCall): Promise<Response>
  /** Fails unless the address may be called, without calling it. */
  assertOpen(url: string): Promise<void>
  close(): Promise<void>
}

export interface ShortCall {
  readonly method?: string
  readonly headers?: Record<string, string> | Headers
  readonly body?: string | Uint8Array | URLSearchParams | null
  readonly signal?: AbortSignal | null | undefined
}

const CONNECT_MS_MAX = 5000
const CALL_MS_MAX = 5000
/** Less than the five seconds after which model servers hang up, perhaps just as a request comes. */
const KEEP_ALIVE_MS = 3500
const ANSWER_BYTES_MAX = 1 << 20

export function openEgress({ allow, production, resolve = resolveAll }: EgressOptions): Egress {
  const judge = addressJudge({ allow, loopback: !production })

  /** In production a plain connection goes only where the operator knows the wire. */
  const isOpen = (address: string, protocol: string) => {
    const verdict = judge(address)
    return verdict === 'opened' || (verdict === 'public' && (protocol === 'https:' || !production))
  }

  const openAddresses = async (host: string, protocol: string): Promise<LookupAddress[]> => {
    const name = host.replace(/^\[|\]$/g, '')
    const family = isIP(name)
    const found = family === 0 ? await resolve(name) : [{ address: name, family }]
    const open = found.filter(({ address }) => isOpen(address, protocol))
    if (open.length === 0) throw refusal(host, protocol, production)
    return open
  }

  const lookup =
    (protocol: Protocol): LookupFunction =>
    (host, options, callback) => {
      openAddresses(host, protocol).then(
        (open) => (options.all ? callback(null, open) : callback(null, open[0]!.address, open[0]!.family)),
        (error) => callback(error, '', 0),
      )
    }

  const connectors = {
    'http:': buildConnector({ timeout: CONNECT_MS_MAX, lookup: lookup('http:') }),
    'https:': buildConnector({ timeout: CONNECT_MS_MAX, lookup: lookup('https:') }),
  }
  const dispatcher = new Agent({
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connect: (options, callback) => {
      // A literal address is connected to without a lookup, so it is judged here.
      if (isIP(options.hostname) !== 0 && !isOpen(options.hostname, options.protocol)) {
        return callback(refusal(options.hostname, options.protocol, production), null)
      }
      connectors[options.protocol as Protocol](options, callback)
    },
  })

  return {
    dispatcher,
    lookup,
    async fetch(url, { method = 'GET', headers, body = null, signal } = {}) {
      const timeout = AbortSignal.timeout(CALL_MS_MAX)
      const answer = await request(url, {
        dispatcher,
        method: method as Dispatcher.HttpMethod,
        headers: { 'accept-encoding': 'identity', ...(headers && Object.fromEntries(new Headers(headers))) },
        body: body instanceof URLSearchParams ? body.toString() : body,
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
      })
      const bytes = await readCapped(answer.body, ANSWER_BYTES_MAX)
      return new Response(mayHaveBody(answer.statusCode) ? bytes : null, {
        status: answer.statusCode,
        headers: Object.entries(answer.headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((one): [string, string] => [name, one]),
        ),
      })
    },
    async assertOpen(url) {
      const { hostname, protocol } = new URL(url)
      await openAddresses(hostname, protocol)
    },
    close: () => dispatcher.close(),
  }
}

const resolveAll = (name: string) => resolveName(name, { all: true })

const mayHaveBody = (status: number) => status !== 204 && status !== 205 && status !== 304

/** Names what the user wrote, and never what it resolved to: that would tell of a network the user cannot see. */
function refusal(host: string, protocol: string, production: boolean): Problem {
  const rule = production && protocol === 'http:' ? 'a public address reached by HTTPS' : 'a public address'
  const remedy = 'an operator can open its range with EGRESS_ALLOW'
  return new Problem('address_refused', `This service may not call ${host}: it is not ${rule}; ${remedy}`)
}
