// The settings of a training: what is filled in and what is refused.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSettings } from './configuration.ts'
import { DataProblem } from './data-problem.ts'

test('what is left out is filled in', () => {
  assert.deepEqual(parseSettings('gradient-boosted-trees', { target: 'y', trees: 7 }).configuration, {
    target: 'y',
    test_fraction: 0.2,
    seed: 0,
    trees: 7,
    learning_rate: 0.1,
    leaves: 31,
    bins: 255,
    min_rows: 20,
    early_stopping: 20,
  })
})

const refused: [string, string, unknown, RegExp][] = [
  ['an architecture that is not offered', 'transformer', {}, /transformer is not offered; logistic-regression and/],
  ['a missing target', 'logistic-regression', {}, /target/],
  ['nothing at all', 'logistic-regression', undefined, /target/],
  ['settings of the other architecture', 'logistic-regression', { target: 'y', leaves: 3 }, /leaves is not a setting/],
  ['several unknown keys, each by name', 'gradient-boosted-trees', { target: 'y', a: 1, b: 2 }, /a is .*; b is not a/],
  ['a number out of bounds, by name', 'gradient-boosted-trees', { target: 'y', bins: 256 }, /bins must be <= 255/],
  ['text where a number belongs', 'gradient-boosted-trees', { target: 'y', trees: '9' }, /trees must be integer/],
  ['a list instead of settings', 'logistic-regression', [], /must be object/],
]

for (const [what, architecture, given, message] of refused) {
  test(`${what} is refused`, () => {
    assert.throws(
      () => parseSettings(architecture, given),
      (error) => {
        assert.ok(error instanceof DataProblem)
        assert.match(error.message, message)
        return true
      },
    )
  })
}
