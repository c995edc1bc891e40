// Dividing rows among members gives the same list whatever their number.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSettings } from '../configuration.ts'
import { seededRandom } from '../random.ts'
import { divideRows, gatherRows } from './partition.ts'
import { makeTreeSpace } from './tree-space.ts'

const ROWS = 1000

function divided(members: number): number[] {
  const settings = parseSettings('gradient-boosted-trees', { target: 'y' })
  if (settings.architecture !== 'gradient-boosted-trees') throw new Error('another architecture')
  const column = { name: 'x', kind: 'number', values: new Float64Array(ROWS) } as const
  const train = Uint32Array.from({ length: ROWS - 10 }, (_, row) => row)
  const test = Uint32Array.from({ length: 10 }, (_, row) => ROWS - 10 + row)
  const space = makeTreeSpace(settings.configuration, [column], new Uint8Array(ROWS), { train, test }, members)
  const random = seededRandom(4)
  const bins = new Uint8Array(space.memory.buffer, space.featureBinsAt, ROWS)
  for (let row = 0; row < ROWS; row++) bins[row] = Math.floor(random() * 4)
  space.leftBins.set([1, 0, 1, 0])
  const list = new Uint32Array(space.memory.buffer, space.listAt, ROWS)
  for (let row = 0; row < ROWS; row++) list[row] = row
  for (let member = 0; member < members; member++) divideRows(space, { member, members }, 100, 900, 0)
  for (let member = 0; member < members; member++) gatherRows(space, { member, members }, 100, 900)
  const wanted = [...Array(800).keys()].map((row) => row + 100)
  const isLeft = (row: number) => bins[row]! % 2 === 0
  assert.deepEqual(
    list.slice(100, 900),
    Uint32Array.from([...wanted.filter(isLeft), ...wanted.filter((row) => !isLeft(row))]),
  )
  return [...list]
}

test('left rows come first, both sides in their old order, and rows outside the leaf stay', () => {
  const alone = divided(1)
  assert.deepEqual(alone.slice(0, 100), [...Array(100).keys()])
  for (const members of [2, 3, 5]) assert.deepEqual(divided(members), alone)
})
