// Logins under way (contract 5.1): one use, ten minutes, the browser that began, and any replica.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sweepStates } from '../../src/access/oidc/states-store.ts'
import { connect } from '../../src/storage/sql.ts'
import { type HostileProvider, startHostileProvider } from '../support/hostile-provider.ts'
import { BASE_URL, toEnvironment } from '../support/identity-provider.ts'
import { startReplica } from '../support/replicas.ts'
import { type Reply, type Service, startService, toReply } from '../support/service.ts'

const FRONTEND = 'https://acme.example/app'
const BROWSER = { 'sec-fetch-mode': 'navigate', accept: 'text/html' }

let provider: HostileProvider
let service: Service

before(async () => {
  provider = await startHostileProvider()
  const tenant = toEnvironment({ ...provider.record('acme'), frontend_url: FRONTEND })
  service = await startService({ env: { ...tenant, BASE_URL, RATE_LIMIT_LOGIN_PER_MINUTE: '0' } })
})
after(async () => {
  await service.close()
  await provider.close()
})

interface Begun {
  readonly state: string
  readonly cookie: string
}

async function begin(): Promise<Begun> {
  const payload = { tenant_id: 'acme' }
  const { body, headers } = toReply(await service.app.inject({ method: 'POST', url: '/v1/auth/oidc/login', payload }))
  const asked = new URL(body.auth_url).searchParams
  provider.nonce = asked.get('nonce')!
  return { state: asked.get('state')!, cookie: String(headers['set-cookie']).split(';')[0]! }
}

const comeBack = async (
  state: string | undefined,
  headers: Record<string, string> = {},
  app = service.app,
): Promise<Reply> => {
  const query = new URLSearchParams({ code: 'any', ...(state !== undefined && { state }) })
  return toReply(await app.inject({ url: `/v1/auth/oidc/callback?${query}`, headers }))
}
const assertInvalid = ({ status, body, text }: Reply, message: RegExp) => {
  assert.equal(status, 400, text)
  assert.equal(body.error.code, 'login_state_invalid')
  assert.match(body.error.message, message)
}
const fragmentOf = ({ status, headers }: Reply): [string, URLSearchParams] => {
  assert.equal(status, 303)
  const [address, fragment] = String(headers.location).split('#')
  return [address!, new URLSearchParams(fragment)]
}

describe('a state', () => {
  test('leads to the frontend with a token in the fragment, kept from caches and referrers', async () => {
    const { state, cookie } = await begin()
    const reply = await comeBack(state, { ...BROWSER, cookie })
    const [address, fragment] = fragmentOf(reply)
    assert.equal(address, FRONTEND)
    assert.deepEqual([...fragment.keys()], ['access_token', 'token_type', 'expires_in'])
    assert.deepEqual([fragment.get('token_type'), fragment.get('expires_in')], ['Bearer', '3600'])
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.equal(reply.headers['referrer-policy'], 'no-referrer')
    assert.match(String(reply.headers['set-cookie']), /=; .*Max-Age=0$/)
  })

  test('is not used up by a look at the head', async () => {
    const { state } = await begin()
    const url = `/v1/auth/oidc/callback?code=x&state=${state}`
    assert.equal((await service.app.inject({ method: 'HEAD', url })).statusCode, 405)
    assert.equal((await comeBack(state)).status, 303)
  })

  test('works once: the second callback with it is refused', async () => {
    const { state } = await begin()
    assert.equal((await comeBack(state)).status, 303)
    assertInvalid(await comeBack(state), /not known/)
  })

  test('gives one token when it comes back many times at once', async () => {
    const { state } = await begin()
    const replies = await Promise.all(Array.from({ length: 8 }, () => comeBack(state)))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [303, 400, 400, 400, 400, 400, 400, 400])
  })

  test('is used up by a callback that fails', async () => {
    const { state } = await begin()
    provider.claims = { nonce: 'wrong' }
    assert.equal((await comeBack(state)).status, 400)
    provider.reset()
    assertInvalid(await comeBack(state), /not known/)
  })

  test('is refused ten minutes later', async () => {
    const { state } = await begin()
    const owner = connect(service.databaseUrl, { max: 1 })
    await owner`update login_states set expires_at = now() - interval '1 second'`
    await owner.end()
    assertInvalid(await comeBack(state), /10 minutes/)
  })

  test('that was never given, and a callback without one, are refused', async () => {
    assertInvalid(await comeBack('x'.repeat(43)), /not known/)
    assertInvalid(await comeBack(undefined), /not known/)
  })

  test('is good on another replica than the one that gave it', async () => {
    const second = await startReplica(service)
    try {
      assert.equal((await comeBack((await begin()).state, {}, second.app)).status, 303)
    } finally {
      await second.close()
    }
  })
})

describe('a browser', () => {
  test('without the cookie of the login is sent to the frontend with the error, and with no token', async () => {
    const { state } = await begin()
    const [address, fragment] = fragmentOf(await comeBack(state, BROWSER))
    assert.equal(address, FRONTEND)
    assert.deepEqual([fragment.get('error'), fragment.get('access_token')], ['login_state_invalid', null])
    assert.match(fragment.get('error_description')!, /another browser/)
    assert.ok(fragment.get('request_id'))
  })

  test('with the cookie of another login is refused, even without the headers of a browser', async () => {
    const [mine, foreign] = [await begin(), await begin()]
    const [name] = mine.cookie.split('=')
    const [, value] = foreign.cookie.split('=')
    assertInvalid(await comeBack(mine.state, { cookie: `${name}=${value}` }), /another browser/)
  })

  test('too old to announce itself is known by asking for a page', async () => {
    const { state } = await begin()
    const [, fragment] = fragmentOf(await comeBack(state, { accept: 'text/html,*/*' }))
    assert.equal(fragment.get('error'), 'login_state_invalid')
  })

  test('finishes two logins that it began side by side', async () => {
    const [one, two] = [await begin(), await begin()]
    const cookie = `${one.cookie}; ${two.cookie}`
    const [, second] = fragmentOf(await comeBack(two.state, { ...BROWSER, cookie }))
    assert.ok(second.get('access_token'))
    provider.nonce = ''
    const [, first] = fragmentOf(await comeBack(one.state, { ...BROWSER, cookie }))
    assert.equal(first.get('error'), 'login_failed', 'the binding held, and only the nonce of this test was wrong')
  })

  test('that comes back with an unknown state is sent home, since its tenant is not known', async () => {
    const [address, fragment] = fragmentOf(await comeBack('unknown', BROWSER))
    assert.equal(address, `${BASE_URL}/`)
    assert.equal(fragment.get('error'), 'login_state_invalid')
  })
})

describe('many states', () => {
  test('ten thousand of them do not slow a login down, and only the expired ones are swept', async () => {
    const { system } = service.process
    const medianMs = async () => {
      const times: number[] = []
      for (let i = 0; i < 20; i++) {
        const startedAt = performance.now()
        await begin()
        times.push(performance.now() - startedAt)
      }
      return times.sort((a, b) => a - b)[10]!
    }
    const few = await medianMs()
    await system`
      insert into login_states (hash, tenant_id, sealed, binding_hash, expires_at)
      select 'many:' || n, 'acme', 'sealed', 'binding', now() + make_interval(mins => case when n % 2 = 0 then 5 else -20 end)
      from generate_series(1, 10000) n`
    const many = await medianMs()
    assert.ok(many < few * 3 + 20, `a login took ${few} ms with few states and ${many} ms with many`)

    const count = async () => (await system`select from login_states where hash like 'many:%'`).length
    assert.equal(await count(), 10_000)
    await sweepStates(system)
    assert.equal(await count(), 5000)
  })
})

test('logins from one address are limited, and those from another are not', async () => {
  const tenant = toEnvironment(provider.record('acme'))
  const env = { ...tenant, BASE_URL, RATE_LIMIT_LOGIN_PER_MINUTE: '3', TRUSTED_PROXIES: '127.0.0.0/8' }
  const limited = await startService({ env })
  const beginFrom = async (address: string) => {
    const headers = { 'x-forwarded-for': address }
    const payload = { tenant_id: 'acme' }
    return toReply(await limited.app.inject({ method: 'POST', url: '/v1/auth/oidc/login', payload, headers }))
  }
  try {
    for (let i = 0; i < 3; i++) assert.equal((await beginFrom('192.0.2.1')).status, 200)
    const { status, headers } = await beginFrom('192.0.2.1')
    assert.equal(status, 429)
    assert.ok(headers['retry-after'])
    assert.equal((await beginFrom('192.0.2.2')).status, 200)
  } finally {
    await limited.close()
  }
})
