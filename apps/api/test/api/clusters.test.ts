// The cluster of a space as a client sees it (contract 2.11, 4.2.5).
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { broken, type Dashboard, ray, silent, somethingElse, startDashboard } from '../support/ray-dashboard.ts'
import { type Person, type Service, startService } from '../support/service.ts'

const TOKEN = 'very-visible-token'
const INGRESS = 'http://127.0.0.1:9/v1'

let service: Service
let admin: Person
let space: string
let open: Dashboard
let guarded: Dashboard
const others: Dashboard[] = []

before(async () => {
  service = await startService()
  open = await startDashboard(ray())
  guarded = await startDashboard(ray(TOKEN))
  others.push(open, guarded)
})
beforeEach(async () => {
  const founder = await service.signIn('ana', ['admins'])
  const { body } = await founder.call('POST', '/v1/spaces', { name: 'a space', description: '' })
  space = body.id
  admin = await service.signIn('ana', ['admins'])
})
afterEach(() => {
  for (const dashboard of others.splice(2)) dashboard.stop()
})
after(async () => {
  await service.close()
  for (const dashboard of others) dashboard.stop()
})

const at = () => `/v1/spaces/${space}/cluster`
const aCluster = async (body: object = { ingress_url: INGRESS, manager_url: open.url }) => {
  const reply = await admin.call('POST', at(), body)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}
const dashboardThat = async (listener: typeof broken) => {
  const dashboard = await startDashboard(listener)
  others.push(dashboard)
  return dashboard
}

describe('the state view', () => {
  test('without a cluster shows the embedded engine on this machine', async () => {
    const { status, body } = await admin.call('GET', at())
    assert.equal(status, 200)
    const [node, ...more] = body.nodes
    assert.deepEqual(more, [])
    assert.deepEqual([node.hostname, node.status, node.is_leader, node.jobs], [hostname(), 'ready', true, []])
    assert.ok(node.config.cores >= 1 && node.config.memory_bytes > 0)
    assert.deepEqual(node.usage, { gpus: [] })
    assert.deepEqual(body.resources.gpus, { memory_used: 0, total: 0, utilization: 0 })
    assert.ok(body.ingress.host && body.service.job_queue && body.service.job_server && body.service.node_set)
  })

  test('is the same at /clusters and with the Space header', async () => {
    for (const [url, headers] of [
      [`${at()}s`, {}],
      ['/v1/cluster', { space }],
      ['/v1/clusters', { space }],
    ] as const) {
      const { status, body } = await admin.call('GET', url, undefined, headers)
      assert.deepEqual([status, body.nodes[0].hostname], [200, hostname()], url)
    }
  })

  test('of a registered cluster asks it with its token, and shows no token', async () => {
    await aCluster({ ingress_url: INGRESS, manager_url: guarded.url, token: TOKEN })
    const reply = await admin.call('GET', at())
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.body.service.node_set, { ray_version: '2.52.0' })
    assert.deepEqual([reply.body.ingress.host, reply.body.nodes], ['127.0.0.1:9', []])
    assert.equal(guarded.tokens.at(-1), `Bearer ${TOKEN}`)
    assert.ok(!reply.text.includes(TOKEN))
  })

  test('of a cluster that is gone says that it cannot be reached', async () => {
    const leaving = await dashboardThat(ray())
    await aCluster({ ingress_url: INGRESS, manager_url: leaving.url })
    leaving.stop()
    const { status, body } = await admin.call('GET', at())
    assert.deepEqual([status, body.error.code], [502, 'upstream_unreachable'])
  })
})

describe('create', () => {
  test('answers the record with the token', async () => {
    const body = await aCluster({ name: 'gpus', ingress_url: INGRESS, manager_url: guarded.url, token: TOKEN })
    const { id, created_at, ...rest } = body
    assert.ok(id && created_at)
    assert.deepEqual(rest, { name: 'gpus', ingress_url: INGRESS, manager_url: guarded.url, token: TOKEN })
  })

  test('a second cluster is a conflict', async () => {
    await aCluster()
    const { status, body } = await admin.call('POST', at(), { ingress_url: INGRESS, manager_url: open.url })
    assert.deepEqual([status, body.error.code], [409, 'conflict'])
  })

  test('two at the same time leave one', async () => {
    const both = await Promise.all(
      [1, 2].map(() => admin.call('POST', at(), { ingress_url: INGRESS, manager_url: open.url })),
    )
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409])
  })

  const UNUSABLE: [string, () => Promise<object>, number, string, string | undefined][] = [
    [
      'something that is not Ray',
      async () => ({ manager_url: (await dashboardThat(somethingElse)).url }),
      400,
      'cluster_unusable',
      'manager_url',
    ],
    [
      'a cluster that wants a token',
      async () => ({ manager_url: guarded.url }),
      400,
      'cluster_unusable',
      'manager_url',
    ],
    [
      'a wrong token',
      async () => ({ manager_url: guarded.url, token: 'wrong' }),
      400,
      'cluster_unusable',
      'manager_url',
    ],
    [
      'a private address as manager',
      async () => ({ manager_url: 'http://10.0.0.1:8265' }),
      400,
      'cluster_unusable',
      'manager_url',
    ],
    [
      'the metadata service as manager',
      async () => ({ manager_url: 'http://169.254.169.254' }),
      400,
      'cluster_unusable',
      'manager_url',
    ],
    [
      'a private address as ingress',
      async () => ({ ingress_url: 'http://[fd00::1]/v1' }),
      400,
      'cluster_unusable',
      'ingress_url',
    ],
    [
      'an ingress whose name nobody knows',
      async () => ({ ingress_url: 'http://nowhere.invalid/v1' }),
      400,
      'cluster_unusable',
      'ingress_url',
    ],
    ['an address that is none', async () => ({ manager_url: 'the cluster' }), 400, 'invalid_request', 'manager_url'],
    [
      'an address of another protocol',
      async () => ({ ingress_url: 'file:///etc/passwd' }),
      400,
      'invalid_request',
      'ingress_url',
    ],
    [
      'an address with a password in it',
      async () => ({ manager_url: 'http://me:pw@127.0.0.1' }),
      400,
      'invalid_request',
      'manager_url',
    ],
    [
      'a cluster that is broken',
      async () => ({ manager_url: (await dashboardThat(broken)).url }),
      502,
      'upstream_error',
      undefined,
    ],
    [
      'a cluster where nobody listens',
      async () => ({ manager_url: 'http://127.0.0.1:9' }),
      502,
      'upstream_unreachable',
      undefined,
    ],
    [
      'a cluster that falls silent',
      async () => ({ manager_url: (await dashboardThat(silent)).url }),
      504,
      'upstream_timeout',
      undefined,
    ],
  ]
  for (const [what, values, status, code, param] of UNUSABLE) {
    test(`${what} is refused with ${status} ${code}, and nothing is registered`, async () => {
      const body = { ingress_url: INGRESS, manager_url: open.url, ...(await values()) }
      const reply = await admin.call('POST', at(), body)
      assert.deepEqual([reply.status, reply.body.error.code, reply.body.error.param], [status, code, param], reply.text)
      assert.equal((await admin.call('DELETE', at())).status, 404)
    })
  }
})

describe('update', () => {
  test('changes what is given, and keeps and answers the token', async () => {
    await aCluster({ ingress_url: INGRESS, manager_url: guarded.url, token: TOKEN })
    const { status, body } = await admin.call('PUT', at(), { ingress_url: INGRESS })
    assert.deepEqual([status, body.token], [200, TOKEN])
    const { body: renewed } = await admin.call('PATCH', at(), { token: TOKEN })
    assert.ok(renewed.updated_at)
  })

  test('a new address without a new token clears the token, so that it is sent nowhere else', async () => {
    await aCluster({ ingress_url: INGRESS, manager_url: guarded.url, token: TOKEN })
    const moved = await dashboardThat(ray())
    const { status, body } = await admin.call('PUT', at(), { manager_url: moved.url })
    assert.deepEqual([status, body.token, body.manager_url], [200, undefined, moved.url])
    assert.equal((await admin.call('GET', at())).status, 200)
    assert.deepEqual(moved.tokens, [undefined, undefined])
  })

  test('to something that is not Ray is refused, and the cluster stays as it was', async () => {
    await aCluster()
    const { url } = await dashboardThat(somethingElse)
    assert.equal((await admin.call('PUT', at(), { manager_url: url })).status, 400)
    assert.equal((await admin.call('PUT', at(), {})).body.manager_url, open.url)
  })

  test('of a space without a cluster is 404', async () => {
    assert.equal((await admin.call('PUT', at(), { token: TOKEN })).status, 404)
  })
})

test('a deleted cluster gives way to the embedded engine', async () => {
  await aCluster()
  assert.equal((await admin.call('DELETE', at())).status, 204)
  assert.equal((await admin.call('GET', at())).body.service.job_server, 'embedded')
  assert.equal((await admin.call('DELETE', at())).status, 404)
})

test('the token is nowhere to be read but in the answers to create and update', async () => {
  await aCluster({ ingress_url: INGRESS, manager_url: guarded.url, token: TOKEN })
  const { text } = await admin.call('GET', '/v1/audit?limit=1000')
  assert.ok(!text.includes(TOKEN))
  const { system } = service.process
  for (const table of ['clusters', 'audit'] as const) {
    const rows = await system`select row_to_json(t)::text as text from ${system(table)} t`
    assert.ok(rows.length > 0 && rows.every((row) => !row['text'].includes(TOKEN)), table)
  }
})
