// What is made of a provider's claims (contract 2.2).
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Claims, needsUserinfo, toPerson } from './claims.ts'

const GROUPS = 'memberOf'
const read = (idToken: Claims, userinfo?: Claims) => toPerson({ sub: 'ana', ...idToken }, userinfo, GROUPS)

describe('groups', () => {
  const cases: [what: string, claim: unknown, groups: string[]][] = [
    ['a list is taken as it is, each name once', ['b', 'a', 'b'], ['b', 'a']],
    ['a lone text counts as one name', 'admins', ['admins']],
    ['no claim is no group', undefined, []],
    ['names that no seat can bear are left out', ['ok', '', 'a\nb', 'x'.repeat(201), '\ud800'], ['ok']],
    ['characters are counted and not their parts', ['😀'.repeat(150), '😀'.repeat(201)], ['😀'.repeat(150)]],
    ['paths and colons are part of a name', ['/org/admins', 'a:b'], ['/org/admins', 'a:b']],
  ]
  for (const [what, claim, groups] of cases) {
    test(what, () => assert.deepEqual(read({ [GROUPS]: claim }).groups, groups))
  }

  test('the signed ID token wins over userinfo', () => {
    assert.deepEqual(read({ [GROUPS]: ['signed'] }, { sub: 'ana', [GROUPS]: ['other'] }).groups, ['signed'])
  })

  test('a thousand are read, and one more fails', () => {
    const names = Array.from({ length: 1000 }, (_, n) => `g${n}`)
    assert.equal(read({ [GROUPS]: names }).groups.length, 1000)
    assert.throws(() => read({ [GROUPS]: [...names, 'more'] }), /lists 1001 groups/)
  })

  test('an overage marker beside a list that is there does not matter', () => {
    assert.deepEqual(read({ [GROUPS]: ['a'], hasgroups: true }).groups, ['a'])
  })

  test('an overage marker fails the login instead of taking the person’s seats away', () => {
    assert.throws(() => read({ _claim_names: { groups: 'src1' } }), /so many groups/)
    assert.throws(() => read({}, { sub: 'ana', hasgroups: true }), /so many groups/)
  })
})

describe('the address', () => {
  test('is verified only where the provider says so about this very address', () => {
    assert.equal(read({ email: 'a@x.org', email_verified: true }).emailVerified, true)
    assert.equal(read({ email: 'a@x.org', email_verified: 'true' }).emailVerified, true)
    assert.equal(read({ email: 'a@x.org' }).emailVerified, false)
    assert.equal(
      read({ email: 'a@x.org' }, { sub: 'ana', email: 'b@x.org', email_verified: true }).emailVerified,
      false,
    )
    assert.equal(read({}, { sub: 'ana', email: 'b@x.org', email_verified: true }).emailVerified, true)
    assert.equal(read({ email_verified: true }).emailVerified, false)
  })

  test('that could not be stored is left out', () => {
    assert.equal(read({ email: 'a\0@x.org', email_verified: true }).email, undefined)
  })
})

test('a name is put together from its parts when the provider gives only those', () => {
  assert.equal(read({ name: 'Ana A.', given_name: 'Ana' }).name, 'Ana A.')
  assert.equal(read({ given_name: 'Ana', family_name: 'Alvarez' }).name, 'Ana Alvarez')
  assert.equal(read({ preferred_username: 'ana1' }).name, 'ana1')
  assert.equal(read({}).name, undefined)
})

test('userinfo is asked only for what the ID token lacks', () => {
  assert.equal(needsUserinfo({ [GROUPS]: [], email: 'a@x.org' }, GROUPS), false)
  assert.equal(needsUserinfo({ email: 'a@x.org' }, GROUPS), true)
  assert.equal(needsUserinfo({ [GROUPS]: [] }, GROUPS), true)
  assert.equal(needsUserinfo({ hasgroups: true }, GROUPS), false)
})
