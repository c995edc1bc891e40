// Which engine a call goes to.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent } from 'undici'
import { chooseEngine } from './gateway.ts'
import { openAiServer } from './openai-server.ts'

const dispatcher = new Agent()
const engineAt = (baseUrl: string) => openAiServer({ baseUrl, dispatcher })

test('the cluster of the space comes first, then the server, then the embedded model', () => {
  const [cluster, server, embedded] = [engineAt('http://c'), engineAt('http://s'), engineAt('http://e')]
  assert.equal(chooseEngine(cluster, { server, embedded }), cluster)
  assert.equal(chooseEngine(undefined, { server, embedded }), server)
  assert.equal(chooseEngine(undefined, { embedded }), embedded)
})

test('with nothing connected the 503 says how to connect a model', () => {
  assert.throws(() => chooseEngine(undefined, {}), {
    code: 'no_inference_backend',
    message: /ingress_url.*INFERENCE_URL.*INFERENCE_MODEL_FILE/,
  })
})

test('a bare host means its usual base, a longer address is taken as it is', () => {
  assert.equal(engineAt('http://host:8000').upstream, 'http://host:8000/v1')
  assert.equal(engineAt('http://host:8000/').upstream, 'http://host:8000/v1')
  assert.equal(engineAt('http://host/serve/v2/').upstream, 'http://host/serve/v2')
})
