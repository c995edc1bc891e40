// Properties of access over random seats, tokens and spaces: agreement with a plain model, and no way up.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isAllowed } from '../src/access/authorize.ts'
import type { Caller } from '../src/access/caller.ts'
import { assertMayDelete, assertMayUpdate, assertNoEscalation, holdingsOf } from '../src/access/escalation.ts'
import { type SeatRow, Snapshot } from '../src/access/snapshot.ts'
import { Problem } from '../src/base/problem.ts'

const SPACES = ['s1', 's2', 's3']
const NAMES = ['a', 'b', 'c:d', 'admins']
const PERMISSIONS = ['seats:create', 'seats:update', 'seats:delete', 'x:get', 'x:list', '*']

const subset = (items: string[], minLength = 0) => fc.subarray(items, { minLength })
const seat = (name: string) =>
  fc.record({ name: fc.constant(name), permissions: subset(PERMISSIONS), spaces: subset(SPACES, 1) })
const seats = fc
  .tuple(...NAMES.map((name) => fc.option(seat(name), { nil: undefined })))
  .map((list) => list.filter((item) => item !== undefined))

function snapshotOf(list: { name: string; permissions: string[]; spaces: string[] }[]): Snapshot {
  const snapshot = new Snapshot()
  const rows: SeatRow[] = list.map((item) => ({ tenant_id: 't', id: `id-${item.name}`, ...item }))
  snapshot.apply({ epoch: 0, whole: true, changedSeats: [], seats: rows, endedLogins: [], changedKeys: [], keys: [] })
  return snapshot
}

function callerOf(hashPerm: string[]): Caller {
  const namesBySpace = new Map<string, string[]>()
  for (const entry of hashPerm) {
    const [space, name] = [entry.slice(0, entry.indexOf(':')), entry.slice(entry.indexOf(':') + 1)]
    namesBySpace.set(space, [...(namesBySpace.get(space) ?? []), name])
  }
  const seatNames = [...new Set([...namesBySpace.values()].flat())]
  return {
    tenantId: 't',
    userId: 'u',
    email: undefined,
    name: undefined,
    sso: true,
    loginId: '',
    expiresAt: 0,
    seatNames,
    namesBySpace,
  }
}

test('the check agrees with the contract’s five steps written out plainly', () => {
  const entry = fc
    .tuple(fc.constantFrom(...SPACES, 's9'), fc.constantFrom(...NAMES, 'gone'))
    .map(([space, name]) => `${space}:${name}`)
  const question = fc.record({
    seats,
    hashPerm: fc.uniqueArray(entry, { maxLength: 8 }),
    space: fc.constantFrom(...SPACES, 's9'),
    needed: fc.constantFrom(...PERMISSIONS.slice(0, 5)),
  })
  fc.assert(
    fc.property(question, ({ seats, hashPerm, space, needed }) => {
      const model = hashPerm
        .filter((item) => item.startsWith(`${space}:`))
        .map((item) => item.slice(space.length + 1))
        .flatMap((name) => seats.filter((candidate) => candidate.name === name && candidate.spaces.includes(space)))
        .some(({ permissions }) => permissions.includes('*') || permissions.includes(needed))
      assert.equal(isAllowed(snapshotOf(seats), callerOf(hashPerm), space, needed), model)
    }),
    { numRuns: 3000 },
  )
})

/** Everything that people other than the administrators can do anywhere, spelled out. */
function reach(list: { name: string; permissions: string[]; spaces: string[] }[]): Set<string> {
  const pairs = new Set<string>()
  for (const { name, permissions, spaces } of list) {
    if (name === 'admins') continue
    const held = permissions.includes('*') ? PERMISSIONS : permissions
    for (const space of spaces) for (const permission of held) pairs.add(`${space} ${permission}`)
  }
  return pairs
}

test('no sequence of seat operations that the rules allow takes people beyond what an administrator gave', () => {
  const people = fc.uniqueArray(fc.constantFrom('a', 'b', 'c:d'), { minLength: 1, maxLength: 2 })
  const change = fc.record({
    name: fc.constantFrom('a', 'b', 'c:d', 'new'),
    permissions: subset(PERMISSIONS),
    spaces: subset(SPACES, 1),
  })
  const step = fc.record({
    who: people,
    what: fc.constantFrom('create', 'update', 'delete'),
    target: fc.constantFrom('a', 'b', 'c:d', 'new'),
    change,
  })
  fc.assert(
    fc.property(seats, fc.array(step, { maxLength: 25 }), (start, steps) => {
      let list = [...start]
      const given = reach(list)
      for (const { who, what, target, change } of steps) {
        const snapshot = snapshotOf(list)
        const holdings = holdingsOf(
          snapshot,
          callerOf(SPACES.flatMap((space) => who.map((name) => `${space}:${name}`))),
        )
        const live = snapshot.seat('t', target)
        const after = { name: change.name, spaces: new Set(change.spaces), permissions: new Set(change.permissions) }
        const isTaken = (name: string) => list.some((item) => item.name === name)
        try {
          if (what === 'create' && !isTaken(change.name)) {
            assertNoEscalation(holdings, 'seats:create', after)
            list.push(change)
          } else if (what === 'update' && live && (change.name === target || !isTaken(change.name))) {
            assertMayUpdate(holdings, live, after)
            list = list.map((item) => (item.name === target ? change : item))
          } else if (what === 'delete' && live) {
            assertMayDelete(holdings, live)
            list = list.filter((item) => item.name !== target)
          }
        } catch (error) {
          assert.ok(error instanceof Problem && error.status === 403, String(error))
        }
        for (const pair of reach(list))
          assert.ok(given.has(pair), `${pair} was gained by ${JSON.stringify({ who, what, target, change })}`)
      }
    }),
    { numRuns: 3000 },
  )
})
