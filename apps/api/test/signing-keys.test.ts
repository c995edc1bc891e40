// Signing keys are shared: what one process signs, every other one accepts, however new the key is.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SigningKeys } from '../src/access/signing-keys.ts'
import { type Service, startService } from './support/service.ts'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

async function aProcess(): Promise<SigningKeys> {
  const keys = new SigningKeys(service.process.system, service.process.services.vault)
  await keys.start()
  return keys
}

test('a key that another process made a moment ago is found at once or a moment later, by all who ask', async () => {
  const [maker, reader] = [await aProcess(), await aProcess()]
  for (let round = 0; round < 3; round++) {
    await maker.rotate()
    const { id } = maker.current
    const found = await Promise.all(Array.from({ length: 20 }, () => reader.find(id)))
    assert.ok(found.every((key) => key?.id === id))
  }
})

test('made-up ids are not found, and cost one reading a second however many there are', async () => {
  const keys = await aProcess()
  const beganAt = performance.now()
  const found = await Promise.all(Array.from({ length: 500 }, (_, i) => keys.find(`made-up-${i}`)))
  assert.ok(found.every((key) => key === undefined))
  assert.ok(performance.now() - beganAt < 3_000)
})
