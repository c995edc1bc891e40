// Shares of work: nothing is left out and nothing done twice.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crewControl, leadCrew, partOf, wholeShare } from './crew.ts'

test('the parts of a range follow one another without gap or overlap, whatever the number of members', () => {
  for (const members of [1, 2, 3, 7]) {
    for (const [start, end] of [
      [0, 0],
      [5, 6],
      [10, 1003],
    ] as const) {
      let reached: number = start
      for (let member = 0; member < members; member++) {
        const [from, to] = partOf({ member, members }, start, end)
        assert.equal(from, reached)
        reached = to
      }
      assert.equal(reached, end)
    }
  }
})

test('pieces are counted from zero for each task anew', () => {
  const seen: number[] = []
  const run = leadCrew(crewControl(1), {
    takeSome({ next }, wanted = 0) {
      for (let piece = next(); piece < wanted; piece = next()) seen.push(piece)
    },
  })
  run('takeSome', 3)
  run('takeSome', 2)
  assert.deepEqual(seen, [0, 1, 2, 0, 1])
  const { next } = wholeShare()
  assert.deepEqual([next(), next()], [0, 1])
})
