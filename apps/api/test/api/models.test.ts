// Which models a space can call: the operator's server, the space's own cluster, or none at all.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTalking, user } from '../support/completions.ts'
import { answers, says, scriptedUpstream } from '../support/scripted-upstream.ts'
import { startService, until } from '../support/service.ts'

test('models are listed in OpenAI’s shape, as the model server has them', async () => {
  const { ana, at, close } = await startTalking({}, answers(200, { data: [{ id: 'm1', created: 5 }, { id: 'm2' }] }))
  const { status, body } = await ana.call('GET', at('/models'))
  assert.equal(status, 200)
  assert.deepEqual(body, {
    object: 'list',
    data: [
      { id: 'm1', object: 'model', created: 5, owned_by: 'unknown' },
      { id: 'm2', object: 'model', created: 0, owned_by: 'unknown' },
    ],
  })
  await close()
})

test('without any model the answer is a 503 that says how to connect one', async () => {
  const service = await startService()
  const ana = await service.signIn('ana', ['admins'])
  const space = await service.firstSpace()
  for (const stream of [false, true]) {
    const body = { model: 'm', messages: [user('x')], stream }
    const reply = await ana.call('POST', `/v1/spaces/${space}/chats/completions`, body)
    assert.equal(reply.status, 503)
    assert.equal(reply.body.error.code, 'no_inference_backend')
    assert.match(reply.body.error.message, /INFERENCE_URL/)
  }
  await service.close()
})

test('a space with a cluster calls its ingress with its token, and the others do not', async () => {
  const { ana, at, space, process: running, upstream, close } = await startTalking({}, says('from the server'))
  const cluster = await scriptedUpstream(says('from the cluster'))
  const other = (await ana.call('POST', '/v1/spaces', { name: 'Other', description: '' })).body.id
  const body = { messages: [user('x')] }
  assert.equal(
    (await ana.call('POST', at('/chats/completions'), body)).body.choices[0].message.content,
    'from the server',
  )
  const { vault } = running.services
  const id = other
  const sealed = vault.seal('a-token', { tenantId: 'acme', table: 'clusters', id, column: 'sealed_token' })
  await running.system`
    insert into clusters (tenant_id, space_id, id, ingress_url, manager_url, sealed_token, created_by)
    values ('acme', ${space}, ${id}, ${cluster.url}, ${cluster.url}, ${sealed}, 'ana')`
  const saysNow = async () => (await ana.call('POST', at('/chats/completions'), body)).body.choices[0].message.content
  await until('the cluster is called', async () => (await saysNow()) === 'from the cluster')
  assert.equal(cluster.requests[0]!.headers.authorization, 'Bearer a-token')
  assert.equal(upstream.requests.at(-1)!.headers.authorization, undefined)
  await close()
  await cluster.close()
})
