// Every operation at every address refuses whoever may not: derived from the catalogue, so a new one is covered at once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newId } from '../src/base/ids.ts'
import { catalogue } from '../src/catalogue.ts'
import { addressesOf } from '../src/http/addresses.ts'
import { type Person, type Service, startService, toReply } from './support/service.ts'

let service: Service
let space: string
let everything: string[]

before(async () => {
  service = await startService()
  space = await service.firstSpace()
  everything = [...new Set(catalogue.flatMap(({ permission }) => permission ?? []))]
})
after(() => service.close())

/** A person whose one seat holds every permission there is but one. */
async function allBut(permission: string): Promise<Person> {
  const admin = await service.signIn('ana', ['admins'])
  const name = `all-but-${permission}`
  const permissions = everything.filter((other) => other !== permission)
  const { status } = await admin.call('POST', '/v1/seats', { name, spaces: [space], permissions })
  assert.ok(status === 200 || status === 409)
  return service.signIn('mallory', [name])
}

for (const operation of catalogue) {
  for (const { url, deprecated } of addressesOf(operation)) {
    const at = () => url.replace(':spaceId', space).replace(/:\w+/g, newId())
    const headers: Record<string, string> = deprecated ? { 'X-Test': 'header form' } : {}
    const inSpace = () => (deprecated ? { space } : headers)
    const title = `${operation.method} ${url}`
    if (operation.scope === 'public') continue

    test(`${title} refuses a stranger with 401`, async () => {
      const reply = toReply(await service.app.inject({ method: operation.method, url: at(), headers: inSpace() }))
      assert.equal(reply.status, 401)
      assert.equal(reply.body.error.type, 'authentication_error')
    })

    if (operation.permission === undefined) continue
    test(`${title} refuses a person without a seat with 403`, async () => {
      const nobody = await service.bearing('carol', [])
      const { status, body } = await nobody.call(operation.method, at(), undefined, inSpace())
      assert.equal(status, 403)
      assert.equal(body.error.access.permission, operation.permission)
    })

    test(`${title} refuses a person who holds every permission but ${operation.permission} with 403`, async () => {
      const person = await allBut(operation.permission!)
      const { status, body } = await person.call(operation.method, at(), undefined, inSpace())
      assert.equal(status, 403)
      assert.equal(body.error.access.permission, operation.permission)
      assert.deepEqual(body.error.access.seats, [`all-but-${operation.permission}`])
    })
  }
}
